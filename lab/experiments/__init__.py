"""Many runs: ladder, matrix, experiments.

In it: what plans and makes many runs, and what is measured over them; ``shelf/`` has an experiment in each
file, ``measures/`` what measures its points.
Not in it: one run (``lab/pipeline.py``), and how the matrix is drawn (``lab/report``).
"""
