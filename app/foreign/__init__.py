"""Locks that somebody else has written: adapters, records of published locks, and workers of other languages."""
