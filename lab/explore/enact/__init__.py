"""A schedule of the explorer on real replicas, command by command.

In it: the controller for which each command of each replica waits (``controller``), the names of keys and owners there
(``names``), the clients (``clients``), the faults and their records (``faults``), the events one by one (``enactment``), the
run with its verdict (``enact``). Not in it: what can happen at all (``lab/explore``), and what the evidence means.
"""
