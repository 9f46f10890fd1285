"""How many faults of each kind a search may inject. A search with a budget decides every moment of each fault."""

from __future__ import annotations

from typing import NamedTuple


class Budget(NamedTuple):
    """The faults that are left."""

    # a replica is stopped (SIGSTOP), and resumed at any later moment
    pauses: int = 0
    # a replica is killed
    crashes: int = 0
    # the lock's store executes a command, its reply is lost, and the client raises an error
    lost_replies: int = 0
    # the same, and the client sends the command again
    resends: int = 0
    # the lock's store loses its data
    restarts: int = 0
    # the work fails with an exception
    failures: int = 0

    def without(self, name: str) -> Budget:
        """Return the budget after one fault of this kind."""
        return self._replace(**{name: getattr(self, name) - 1})

    def used(self, left: Budget) -> Budget:
        """Return the faults that a search has injected when these are left."""
        return Budget(*(mine - its for mine, its in zip(self, left, strict=True)))


NONE = Budget()
