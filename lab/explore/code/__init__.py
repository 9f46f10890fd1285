"""Learn the stage as a tree: run its unchanged code in replicas, with time, threads, random numbers and sockets replaced."""
