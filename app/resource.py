"""The resource that the work changes: a number, and how the work reaches it. A stage names one of ``app/resources``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from app.lock import Grant


@dataclass(frozen=True, slots=True)
class Write:
    """The result of a confirmed write."""

    # the number that the resource holds now
    value: int
    # the number that it held before
    overwrote: int
    # which part of the resource was written, if it has several
    part: str = ""
    # the write is valid only after the release, because it belongs to a transaction that ends there
    pending: bool = False
    # nothing was written: all items had been sold before
    sold_out: bool = False
    # nothing was written: this request wrote the value before
    repeated: bool = False


class Resource(Protocol):
    """The number, as the work reaches it. The constructor takes a client and the key of the number."""

    # whether the number is in the lock's store; otherwise it has its own Redis
    in_lock_store: ClassVar[bool]

    def read(self, grant: Grant) -> int | None:
        """Return the number; None if reading and writing are one command."""

    def write(self, value: int | None, grant: Grant) -> Write:
        """Set the number to ``value``. Raises Refused if the resource does not accept the write."""

    def parts(self) -> dict[str, int]:
        """Return the number by part; a resource of one part gives it an empty name."""
