"""THE STAGE AS A TREE: its unchanged code, run in replicas whose time, threads, chance and connections are the search's."""
