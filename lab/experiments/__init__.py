"""Make many runs: ladder, matrix, experiments.

In it: the plans of many runs, the code that makes them, and the figures over all of them. ``shelf/`` has an experiment in
each file, and ``measures/`` the code that measures its points.
Not in it: one run (``lab/pipeline.py``), and how the matrix is drawn (``lab/report``).
"""
