"""Be the scheduler: pages on which a reader chooses the order. Each edge was executed by the stage's own code on a real Redis."""
