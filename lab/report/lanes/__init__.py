"""The drawing of a run: SVG with a lane for each thing that takes part, on an axis of time.

``drawing`` puts the parts together: as a still picture of the opening view, and for a page, where the rest of the run is drawn as
well and a script moves the view. In it: the rows and the axis of time (``rows``), the pen with its labels and the legend
(``pen``); what is drawn of grants, of their messages (``grants``) and of the whole run (``run_parts``); and what a page says of
the thing that a reader points at (``tips``).
"""
