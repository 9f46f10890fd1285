"""THE STORE AS A TABLE: what the real server answers, in each state of its keys."""
