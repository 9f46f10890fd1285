"""What was written for each request, by the replicas' journals: kept until the load's record is compared with it."""

from __future__ import annotations

from collections import Counter, defaultdict


class WrittenValues:
    """The values that each replica wrote for each request. Nearly all requests write once: only their value is kept."""

    def __init__(self) -> None:
        self._last: defaultdict[str, dict[str, int]] = defaultdict(dict)  # by replica and request: the value of the last write
        self._earlier: dict[tuple[str, str], set[int]] = {}  # the other values, where there are several
        self._times: Counter[str] = Counter()  # of the requests that wrote more than once
        self._sold_out: set[tuple[str, str]] = set()  # replica and request, where the request found nothing left to sell

    def add(self, replica: str, request: str, value: int) -> bool:
        """Add one confirmed write. Return whether the request has written before, in any replica."""
        mine = self._last[replica]
        again = request in self
        if again:
            self._times[request] = max(1, self._times[request]) + 1
            if request in mine:
                self._earlier.setdefault((replica, request), set()).add(mine[request])
        mine[request] = value
        return again

    def add_sold_out(self, replica: str, request: str) -> None:
        """Add a request that found nothing left to sell."""
        self._sold_out.add((replica, request))

    def was_sold_out(self, replica: str, request: str) -> bool:
        """Return whether the request found nothing left to sell in this replica."""
        return (replica, request) in self._sold_out

    def __contains__(self, request: str) -> bool:
        """Return whether any replica wrote for the request."""
        for mine in self._last.values():  # noqa: SIM110 - a generator would take twice as long, and every request is asked for
            if request in mine:
                return True
        return False

    def __len__(self) -> int:
        """Return how many requests wrote."""
        counted_again = sum(len(self.writers(request)) - 1 for request in self._times)
        return sum(map(len, self._last.values())) - counted_again

    def last(self, replica: str, request: str) -> int | None:
        """Return the value that this replica wrote last for the request; None if it wrote none."""
        return self._last[replica].get(request)

    def values(self, replica: str, request: str) -> set[int]:
        """Return all values that this replica wrote for the request."""
        mine = self._last[replica]
        return {mine[request]} | self._earlier.get((replica, request), set()) if request in mine else set()

    def writers(self, request: str) -> list[str]:
        """Return the replicas that wrote for the request."""
        return [replica for replica, mine in self._last.items() if request in mine]

    def most(self, number: int) -> list[tuple[str, int]]:
        """Return the requests that wrote most often, and how often, of those that wrote more than once."""
        return self._times.most_common(number)
