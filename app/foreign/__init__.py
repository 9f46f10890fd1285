"""Run locks that somebody else has written: declarations, records of published locks, and workers of other languages."""
