"""The kinds of measures, one in each file."""
