"""Make one run: start the servers, send the load, inject faults, read the counter, stop the servers.

In it: the runner, the injector of faults, and the record of the machine. Not in it: the verdict on the run (``lab/judge``).
``lab/pipeline.py`` joins run and verdict.
"""
