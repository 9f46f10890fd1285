"""Record as a table how the real server answers each command, in each state of its keys."""
