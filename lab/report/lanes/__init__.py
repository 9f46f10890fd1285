"""The drawing of a run: SVG with a lane for each thing that takes part, on an axis of time.

``drawing`` puts the parts together: as a still picture of the opening view, and for a page, where the rest of the run is drawn as
well and a script moves the view. In it: the axis of time (``axis``), the rows (``rows``), the pen with its labels and the legend
(``pen``), its colours (``ink``), the grants that the title is about (``cast``); what is drawn of grants, of lock servers, of
messages, and of the whole run; and what a page says of the thing that a reader points at (``tips``).
"""
