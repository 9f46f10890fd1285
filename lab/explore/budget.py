"""How many faults of each kind a search may inject. A search with a budget decides every moment of each fault."""

from __future__ import annotations

from collections.abc import Iterator
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

    def without(self, name: str) -> Budget:
        """Return the budget after one fault of this kind."""
        return self._replace(**{name: getattr(self, name) - 1})

    def used(self, left: Budget) -> Budget:
        """Return the faults that were injected when this is left."""
        return Budget(*(mine - its for mine, its in zip(self, left, strict=True)))

    def __str__(self) -> str:
        return self.in_words()

    def in_words(self, store: str = "the store") -> str:
        """Return the faults in words. store: what a restart ends."""
        words = [_counted(number, *NOUNS[name]) for name, number in zip(self._fields, self, strict=True) if number]
        return " and ".join(words).replace("the store", store) or "no fault"


NOUNS = {
    "pauses": ("pause", "pauses"),
    "crashes": ("crash", "crashes"),
    "lost_replies": ("lost reply", "lost replies"),
    "resends": ("command sent twice", "commands sent twice"),
    "restarts": ("restart of the store without its data", "restarts of the store without its data"),
}


def _counted(number: int, one: str, several: str) -> str:
    return f"{number} {one if number == 1 else several}"


def from_cheapest() -> Iterator[Budget]:
    """Yield the budgets in the order in which they are searched: no fault, one fault of each kind, pairs."""
    yield Budget()
    kinds = Budget._fields
    for kind in kinds:
        yield Budget(**{kind: 1})
    for place, kind in enumerate(kinds):
        for other in kinds[place:]:
            yield Budget(**({kind: 2} if kind == other else {kind: 1, other: 1}))
