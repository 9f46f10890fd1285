"""Many runs: the ladder, the matrix, sweeps (``sweeps/``), growth, and benchmarks (``benchmarks/``).

In it: what plans and makes many runs, and what is measured over them. Not in it: one run (``lab/pipeline.py``), and how the
matrix is drawn (``lab/report``).
"""
