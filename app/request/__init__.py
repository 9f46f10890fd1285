"""Keep for each request the commands that it has sent to the lock's store, and the threads that work for it."""
