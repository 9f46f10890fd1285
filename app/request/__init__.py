"""One request at a time: what it has sent to the lock's store, and which threads work for it."""
