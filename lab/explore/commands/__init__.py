"""Run the commands of the explorer: ``lab explore`` and ``lab play``."""
