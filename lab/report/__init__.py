"""Verdicts to terminal, charts, pages and site. Nothing here starts a process.

In it: the data of a run as pictures need it, charts (``charts/``, one a file), the timeline, captions, the matrix's cells and
picture, and the reference that the documents quote. Not in it: what makes many runs (``lab/experiments``).
"""
