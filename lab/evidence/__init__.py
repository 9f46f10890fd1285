"""Read and write the run folder: all file formats of a run but ``verdict.json``.

In it: the folder itself and ``run.json``, the merged history of all replicas, the record of each fault and of each loss, files
with a record a line, and the kept decisions of the explorer. Not in it: the meaning of the evidence (``lab/judge``), and the
format of ``verdict.json`` (``lab/judge/judgement.py``).
"""
