"""The generated parts of README and docs/.

In it: tables, figures in the prose, and the pictures of the book. Each is made from the shelves and from
``reports/reference``; ``python -m tools.book --check`` lists what differs. Not in it: the prose.
"""
