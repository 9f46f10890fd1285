"""What to do: a scenario's TOML file to one checked record, and what a user changes of it for one run.

In it: the record, what a scenario may ask of a stage, its faults as data (``faults/``, one kind a file), and stages as a
command names them. Not in it: anything that starts a process (``lab/servers``, ``lab/run``).
"""
