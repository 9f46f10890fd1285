"""Describe a run before it starts: a TOML file becomes one checked record.

In it: the record and its options, the changes that a user makes for one run, the requirements of a scenario on a stage, its
faults as data (``faults/``, one kind a file), and how a command names a stage. Not in it: anything that starts a process
(``lab/servers``, ``lab/run``).
"""
