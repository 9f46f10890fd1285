"""Run locks from outside this project: by declarations, by records of published locks, and by workers of other languages."""
