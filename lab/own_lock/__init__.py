"""A lock of one's own: what it is, what to run against it, and the page of what was found.

In it: the declaration of a lock and what writes it, the cells of its runs, ``lab test`` and ``lab new``, and the page.
Not in it: the orders of events (``lab/explore``) and what conducts runs (``lab/experiments``).
"""
