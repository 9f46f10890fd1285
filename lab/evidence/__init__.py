"""The run folder: every file format that a run leaves, written and read.

In it: the folder itself and ``run.json``, the merged history of all replicas, the record of each fault and of each loss, and a
reader for files that still grow. Not in it: what the evidence means, and ``verdict.json`` (``lab/judge``).
"""
