"""The commands of the explorer: ``lab explore``, ``lab replay`` and ``lab play``."""
