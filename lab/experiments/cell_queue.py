"""The queue of a round's cells: which cell a worker runs next, so that the servers of slow stores stay up from cell to cell.

Some stores take a second to start, and their servers can be used again (``lab/servers/kept_servers.py``). All cells of such a
store are one train: one worker runs them one after the other. All other cells fit in anywhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Generic, TypeVar

Item = TypeVar("Item")
LOOSE = ""  # the train of the cells that belong to none


class CellQueue(Generic[Item]):
    """Cells that wait, by their trains."""

    def __init__(self, cells: Iterable[tuple[str, Item]], jobs: int) -> None:
        """Take the cells in their order, each with its train. jobs: how many workers take from the queue."""
        self._waiting: dict[str, deque[Item]] = {}
        for train, cell in cells:
            self._waiting.setdefault(train, deque()).append(cell)
        self._moving: list[str] = []  # the trains of which a worker runs a cell now
        self._most_moving = max(1, jobs // 2)  # the other workers run loose cells, which mostly wait

    def take(self) -> tuple[str, Item] | None:
        """Return the next cell and its train for a worker that has none; None when no cell waits."""
        train = self._train()
        return None if train is None else self._next_of(train)

    def go_on(self, train: str) -> tuple[str, Item] | None:
        """Return the next cell for a worker that has run a cell of this train: of the same train, as long as it has cells."""
        if train in self._moving:
            self._moving.remove(train)
        return self._next_of(train) if train != LOOSE and self._waiting.get(train) else self.take()

    def _train(self) -> str | None:
        """Return the train to begin, the longest first; loose cells where enough trains are moving."""
        trains = sorted((name for name, cells in self._waiting.items() if cells and name != LOOSE), key=self._length)
        standing = [name for name in trains if name not in self._moving]
        if standing and len(self._moving) < self._most_moving:
            return standing[-1]
        if self._waiting.get(LOOSE):
            return LOOSE
        return next(reversed(standing or trains), None)

    def _length(self, train: str) -> int:
        return len(self._waiting[train])

    def _next_of(self, train: str) -> tuple[str, Item]:
        if train != LOOSE:
            self._moving.append(train)
        return train, self._waiting[train].popleft()
