"""The drawing of a run: SVG with a lane for each thing that takes part, on an axis of time.

``drawing`` puts the parts together: one window of the run as a still picture, and the strip of the whole run. In it: the rows and
the axis of time (``rows``), the pen with its labels and the legend (``pen``); what is drawn of grants, of their messages
(``grants``) and of the whole run (``run_parts``).
"""
