"""Many runs: ladder, matrix, sweeps, growth, benchmarks.

In it: what plans and makes many runs, and what is measured over them; ``sweeps/`` and ``benchmarks/`` hold one a file.
Not in it: one run (``lab/pipeline.py``), and how the matrix is drawn (``lab/report``).
"""
