"""Search every order of events of a lock, of which a run is one sample. ``docs/explore.md`` follows the folders."""
