"""Turn verdicts into terminal output, charts, pages and the site. Nothing here starts a process.

In it: the data of a run as pictures need it, charts (``charts/``, one a file), the timeline, its pictures
(``lanes/``) and its trace, the matrix (its cells, marks, layout, picture and page), the first picture of the README, and the
reference that the documents quote.
Not in it: the code that makes many runs (``lab/experiments``).
"""
