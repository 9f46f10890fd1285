"""A lock of one's own: its declaration and what writes it, the cells of its runs, ``lab test`` and ``lab new``, and the page."""
