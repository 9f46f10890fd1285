"""Start and stop real processes.

In it: the supervisor that outlives the lab, how each program is started (``programs/``), of which servers a store consists and
how it is asked (``stores/``), and the cluster that a run needs. Not in it: the same servers in Docker (``lab/containers``).
"""
