"""One run: bring up, drive, inject faults, read the counter, take down.

In it: the runner, the injector of faults, and the record of the machine. Not in it: the verdict on the run (``lab/judge``);
``lab/pipeline.py`` is where run and verdict meet.
"""
