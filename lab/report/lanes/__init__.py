"""The one drawing of lanes, as SVG: what takes part in a lane each, and what happens along a sequence.

The ``pen`` draws, keeps labels apart and writes the legend. A sequence goes down, a row for each event, with words beside it
(``lifelines``): the steps of a loss (``steps_drawing``), and schedules of the explorer. Or it goes to the right as far as time
goes: a window of a run (``rows``), with its grants (``grants``) and the run (``whole``). ``drawing`` puts that together.
"""
