"""A counter that exists only here."""

from app.lock import Grant
from app.resource import Write


class Number:
    """A number that is always read as zero."""

    in_lock_store = False

    def read(self, grant: Grant) -> int:
        return 0

    def write(self, value: int | None, grant: Grant) -> Write:
        return Write(value=1, overwrote=0)

    def parts(self) -> dict[str, int]:
        return {"": 1}
