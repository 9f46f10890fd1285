"""The grants of one key, in the order of time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from lab.judge.grant import Grant


class GrantsOfKey:
    """Two parallel lists: a search among plain numbers is much faster than one that must look into each grant."""

    def __init__(self) -> None:
        self.times_ns: list[int] = []
        self.grants: list[Grant] = []

    def __len__(self) -> int:
        return len(self.grants)

    def add(self, got_ns: int, grant: Grant) -> None:
        """Add a grant. Grants nearly always come in the order of time."""
        if self.times_ns and self.times_ns[-1] > got_ns:
            place = bisect_right(self.times_ns, got_ns)
            self.times_ns.insert(place, got_ns)
            self.grants.insert(place, grant)
        else:
            self.times_ns.append(got_ns)
            self.grants.append(grant)

    def first_of_another(self, request: str, since_ns: int, until_ns: int) -> Grant | None:
        """Return the first grant after one moment, and before another moment, that another request got."""
        for at in range(bisect_right(self.times_ns, since_ns), len(self.times_ns)):
            if self.times_ns[at] >= until_ns:
                break
            if self.grants[at].request != request:
                return self.grants[at]
        return None

    def is_free_after(self, grant: Grant) -> bool:
        """Return whether a grant that was released was the last one, or the next one came only after it."""
        times_ns, grants = self.times_ns, self.grants
        if grants[-1] is grant:
            return True
        return len(grants) > 1 and grants[-2] is grant and times_ns[-1] >= grant.releasing_ns > 0

    def forget_before(self, at_ns: int) -> None:
        """Forget the grants before a moment, but never the last grant."""
        number = max(0, min(bisect_left(self.times_ns, at_ns), len(self.times_ns) - 1))
        del self.times_ns[:number]
        del self.grants[:number]
