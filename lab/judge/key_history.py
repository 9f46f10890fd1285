"""Follow the lives of the keys at the lock's store, as the store reported them."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from lab.evidence.history import History

FOREVER_NS = 1 << 62
SET_OVER = "set over"  # a key was set while it was alive: made of two events of the store in a row
BORN = "born"  # the first event of a key that was not there
POPPED = "popped"  # a list was deleted because a waiter took its last element
CHANGED = "changed"  # any event but the end of a key and a new TTL
ENDS = ("del", "expired", "rename_from", "evicted")
POPS = ("lpop", "rpop")


class KeyHistory:
    """Answer questions about the store's reports of its keys. The file is read only if there is a loss to explain."""

    def __init__(self, history: History, later_ns: int = 0) -> None:
        """Take the reports. later_ns: by how much the lab's clock may be wrong against a replica's: a report is never early."""
        self._history, self._later_ns = history, later_ns
        self._names: dict[str, str] = {}  # by the key's name in grants: its name at the store
        self._times: defaultdict[tuple[str, str], array[int]] | None = None

    @property
    def is_reported(self) -> bool:
        """Return whether the store reported any key."""
        return bool(self._read())

    def is_known(self, key: str) -> bool:
        """Return whether the store reported any event of this key, or of the only key whose name contains this name."""
        return self._at_the_store(key) in self.names

    def _at_the_store(self, key: str) -> str:
        """Return the name of a key at the store: a library may add something to the name that a grant gives."""
        if key not in self._names:
            with_it = [] if key in self.names else [known for known in self.names if key and key in known]
            self._names[key] = with_it[0] if len(with_it) == 1 else key
        return self._names[key]

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the keys that the store reported."""
        return frozenset(key for key, _ in self._read())

    def happened(self, event: str, since_ns: int, until_ns: int, key: str) -> bool:
        """Return whether the lab received this event of this key between two times. It may receive it late, but never early."""
        return self.number(event, since_ns, until_ns, key) > 0

    def number(self, event: str, since_ns: int, until_ns: int, key: str) -> int:
        """Return how often the lab received this event of this key between two times."""
        times = self._read().get((self._at_the_store(key), event), ())
        return max(0, bisect_right(times, until_ns) - bisect_left(times, since_ns))

    def was_removed(self, since_ns: int, until_ns: int, key: str) -> bool:
        """Return whether the key was deleted or renamed between two times; the end of its TTL does not count."""
        return any(self.happened(event, since_ns, until_ns, key) for event in ("del", POPPED, "rename_from"))

    def _read(self) -> Mapping[tuple[str, str], array[int]]:
        """Return the times of all events, by the key and the event's name."""
        if self._times is None:
            # an array needs a fifth of the memory of a list
            times: defaultdict[tuple[str, str], array[int]] = defaultdict(lambda: array("q"))
            living: set[tuple[str, str]] = set()  # keys that are set
            last: dict[tuple[str, str], str] = {}  # the last event of each key that exists
            for key_event in self._history.key_events():
                event, key, at_ns = key_event.event, key_event.key, key_event.at_ns + self._later_ns
                name = key_event.node, key
                is_over = event == "set" and name in living
                is_popped = event == "del" and last.get(name) in POPS
                times[key, SET_OVER if is_over else POPPED if is_popped else event].append(at_ns)
                if event in ENDS:
                    living.discard(name)
                    last.pop(name, None)
                    continue
                if event != "expire":
                    times[key, CHANGED].append(at_ns)
                if name not in last:
                    times[key, BORN].append(at_ns)
                last[name] = event
                if event in ("set", "hincrby"):
                    living.add(name)
            self._times = times
        return self._times
