"""Test a lock of the user's own: write its declaration, run its cells (``lab test``, ``lab new``), and write the page."""
