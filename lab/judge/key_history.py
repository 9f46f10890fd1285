"""The lives of the keys at the lock's store, as the store reported them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from lab.evidence.history import History

SET_OVER = "set over"  # a key was set while it was alive: not an event of the store, but two in a row


class KeyHistory:
    """What the lock's store reported of its keys. The file is read only when there is a loss to explain."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._times: dict[tuple[str, str], list[int]] | None = None

    @property
    def is_reported(self) -> bool:
        """Return whether the store reported anything of its keys."""
        return bool(self._read())

    def is_known(self, key: str) -> bool:
        """Return whether the store reported any event of this key."""
        return any(known == key for known, _ in self._read())

    def happened(self, event: str, since_ns: int, until_ns: int, key: str) -> bool:
        """Return whether the lab received such an event of this key in that time; it receives an event late, and never early."""
        times = self._read().get((key, event), [])
        return bisect_right(times, until_ns) > bisect_left(times, since_ns)

    def _read(self) -> dict[tuple[str, str], list[int]]:
        """Return the times of all events, by the key and the event's name."""
        if self._times is None:
            self._times = {}
            living: set[tuple[str, str]] = set()
            for key_event in self._history.key_events():
                key = (key_event.node, key_event.key)
                event = SET_OVER if key_event.event == "set" and key in living else key_event.event
                self._times.setdefault((key_event.key, event), []).append(key_event.at_ns)
                if key_event.event in ("set", "hincrby"):
                    living.add(key)
                elif key_event.event in ("del", "expired"):
                    living.discard(key)
        return self._times
