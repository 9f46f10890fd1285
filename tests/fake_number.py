"""A counter in memory."""

from app.lock import Grant
from app.resource import Write


class Number:
    """A number that no write changes.

    holds: the value that is read. is_pending: it is in a transaction, so no write is valid before the release. once: a request is
    applied once, and its second write is answered with the first.
    """

    in_lock_store = False

    def __init__(self, holds: int = 0, is_pending: bool = False, once: bool = False) -> None:
        self.holds, self.is_pending, self.once = holds, is_pending, once
        self.writes = 0

    def read(self, grant: Grant) -> int:
        return self.holds

    def write(self, value: int | None, grant: Grant) -> Write:
        self.writes += 1
        repeated = self.once and self.writes > 1
        return Write(value=self.holds + 1, overwrote=self.holds, pending=self.is_pending, repeated=repeated)

    def parts(self) -> dict[str, int]:
        return {"": 1}
