"""The load: one way to drive the counter a file."""
