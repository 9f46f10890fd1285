"""The same servers in Docker.

In it: the cluster that compose or a Swarm has started, the agent in each container, and what the
host does for a run: start the containers, inject faults into them, take them all down. Their
configuration is in ``config/``.
"""
