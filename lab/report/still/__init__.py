"""The parts of the still timeline, which ``lab/report/charts/timeline.py`` puts together.

In it: the axis of time (``axis``), the rows (``rows``), the pen with its labels and the legend (``pen``), the grants that the
title is about (``cast``); and what is drawn of grants, of the lock's servers, of messages, and of the whole run.
"""
