"""Write pages on which a reader is the scheduler. The stage's own code has executed each move on a real Redis."""
