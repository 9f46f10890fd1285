"""Make one run: bring up, drive, inject faults, read the counter, take down.

In it: the runner, the injector of faults, and the record of the machine. Not in it: the verdict on the run (``lab/judge``).
``lab/pipeline.py`` joins run and verdict.
"""
