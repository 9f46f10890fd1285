"""Run a schedule of the explorer on real replicas, command by command."""
