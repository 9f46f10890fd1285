"""Turn verdicts into terminal output, charts, pages and the site. Nothing here starts a process.

In it: the data of a run as pictures need it, the chart of lost increments, the timeline, its pictures (``lanes/``) and its
trace, the matrix (its cells, marks, layout, picture and page), the first picture of the README, and the reference that the
documents quote.
Not in it: the code that makes many runs (``lab/experiments``).
"""
