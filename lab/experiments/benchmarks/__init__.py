"""The shelf of benchmarks, one a file. The first line of each is its line in the help of ``lab bench``."""
