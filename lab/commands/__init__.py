"""The commands of the lab that deal with one run.

In it: run, up, check, report, clean; and the listings of stages and scenarios.
Not in it: commands that make many runs (``lab/experiments``), and the parsing of the command line (``lab/cli.py``).
"""
