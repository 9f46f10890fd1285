"""What a picture can show of a run, put aside while the judge reads the journals: the verdict decides what it opens."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from heapq import nlargest, nsmallest
from itertools import chain
from operator import attrgetter
from typing import Any, Generic, TypeVar

import msgspec

from app.journal import CONNECT, GaveUp, Renewed
from lab.judge.grant import Grant, GrantRecord

CHUNK = 500  # items that are packed together
FASTEST = 1  # of zlib

RECORD = attrgetter(*GrantRecord.__struct_fields__)

Item = TypeVar("Item")


class PackedLog(Generic[Item]):
    """Items of one type, packed: a grant takes some 60 bytes. They are unpacked as often as they are read."""

    def __init__(self, kind: Any, when: Callable[[Item], int]) -> None:
        """kind: the type of an item. when: returns its moment."""
        self.number = 0
        self.when = when
        self._encode = msgspec.msgpack.Encoder().encode
        self._decode = msgspec.msgpack.Decoder(list[kind]).decode
        self._packed: list[bytes] = []
        self._fresh: list[object] = []

    def add(self, item: object) -> None:
        """Add an item: a record of this type, or its fields."""
        self.number += 1
        self._fresh.append(item)
        if len(self._fresh) == CHUNK:
            self._pack()

    def _pack(self) -> None:
        self._packed.append(zlib.compress(self._encode(self._fresh), FASTEST))
        self._fresh = []

    def __iter__(self) -> Iterator[Item]:
        self._pack()
        return chain.from_iterable(self._decode(zlib.decompress(packed)) for packed in self._packed)

    def near(self, at_ns: int, limit: int) -> list[Item]:
        """Return the items around a moment in the order of time: at most ``limit``, half of them before it."""
        before = nlargest(limit // 2, (item for item in self if self.when(item) < at_ns), key=self.when)
        after = nsmallest(limit - len(before), (item for item in self if self.when(item) >= at_ns), key=self.when)
        return sorted(before, key=self.when) + after


class Trace:
    """The grants of a run, the requests that gave up, and the renewals, as the journals record them."""

    def __init__(self) -> None:
        self.grants: PackedLog[GrantRecord] = PackedLog(GrantRecord, attrgetter("got_ns"))
        self.waits: PackedLog[tuple[str, GaveUp]] = PackedLog(tuple[str, GaveUp], _moment)
        self.renewals: PackedLog[tuple[str, Renewed]] = PackedLog(tuple[str, Renewed], _moment)

    def released(self, grant: Grant) -> None:
        """Take a grant whose release is on record."""
        self.grants.add(RECORD(grant))

    def gave_up(self, replica: str, event: GaveUp) -> None:
        """Take a request that got no lock."""
        self.waits.add((replica, event))

    def renewed(self, replica: str, event: Renewed) -> None:
        """Take a command outside any request. One that only connects is none of a lease."""
        if event.command != CONNECT:
            self.renewals.add((replica, event))

    def close(self, still_open: Iterable[Grant]) -> None:
        """Take the grants without a release: all journals have been read."""
        for grant in still_open:
            self.grants.add(RECORD(grant))


def _moment(item: tuple[str, GaveUp | Renewed]) -> int:
    return item[1].at_ns
