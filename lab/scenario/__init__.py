"""What to do: a TOML file to one checked record.

In it: the record and its options, what a user changes of it for one run, what a scenario may ask of a stage, its faults as
data (``faults/``, one kind a file), and stages as a command names them. Not in it: anything that starts a process
(``lab/servers``, ``lab/run``).
"""
