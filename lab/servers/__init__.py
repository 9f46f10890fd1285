"""Start and stop real processes.

In it: the supervisor that outlives the lab, how each program is started (``programs/``), what a store consists of and how it is
asked (``stores/``), and the cluster that a run needs. Not in it: the same servers in Docker (``lab/containers``).
"""
