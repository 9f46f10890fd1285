"""Start replicas and stores, break them on purpose, judge the run, and draw it.

Each folder has one concern, which its docstring says. docs/architecture.md has a table of the order of imports.
"""
