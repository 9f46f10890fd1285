"""ALL ORDERS: what can happen in a state, what it breaks, and the search through all states."""
