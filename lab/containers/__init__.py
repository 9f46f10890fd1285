"""Run the same servers in Docker.

In it: the cluster that compose or a Swarm has started, the agent in each container, and the part of the host in a run: it starts
the containers, injects faults into them, and removes them. Their configuration is in ``config/``.
"""
