"""What the work is done on: a number, and how it is reached. The shelf has one way a file; a stage names its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from app.lock import Grant


@dataclass(frozen=True, slots=True)
class Write:
    """What a confirmed write did: the value it left, and the one it found there. part: of what, where there are several.

    pending: it stands only once the lock has let go, because it is part of a transaction that ends there.
    """

    value: int
    overwrote: int
    part: str = ""
    pending: bool = False


class Resource(Protocol):
    """The number itself, as the work reaches it. The constructor takes the client of where it is, and its key there."""

    in_lock_store: ClassVar[bool]  # whether it is kept where the lock is; else it has a Redis of its own

    def read(self, grant: Grant) -> int | None:
        """The number; None where reading and writing are one command."""

    def write(self, value: int | None, grant: Grant) -> Write:
        """Set it to ``value``. Raises Refused if the resource does not take it."""

    def parts(self) -> dict[str, int]:
        """What it holds, by part; where there is only one, its name is empty."""
