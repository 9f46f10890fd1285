"""Draw lanes as SVG: a lane for each participant, and the events in their sequence.

The ``pen`` draws, keeps labels apart and writes the legend. A sequence of steps goes down, a row for each event with its words
(``lifelines``): the steps of a loss (``steps_drawing``), and schedules of the explorer. A run goes to the right, in proportion to
time: its rows (``rows``), its grants (``grants``), and everything else (``whole``). ``drawing`` puts these together.
"""
