"""The programs that the lab can start, one in each file."""
