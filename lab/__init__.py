"""The lab: it starts replicas and stores, breaks them on purpose, judges what happened, and draws it.

Each folder has one concern, which its docstring says. Its order of imports is a table in docs/architecture.md.
"""
