"""Search all orders of events: the moves of each state, their findings, and the graph of all states."""
