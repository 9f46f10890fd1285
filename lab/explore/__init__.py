"""Every order of events: what can happen to a lock. A run samples one. ``docs/explore.md`` follows the folders."""
