"""GET, then SET … GET: two commands. The lab shows the events between them.

The write also returns the value it overwrote. So each write knows how many increments it destroyed.
"""

from __future__ import annotations

from app.lock import Grant
from app.resource import Write
from app.stores.redis import Redis


class Counter:
    in_lock_store = False

    def __init__(self, client: Redis, key: str) -> None:
        self.client = client
        self.key = key

    def read(self, grant: Grant) -> int:
        return self.parts()[""]

    def write(self, value: int | None, grant: Grant) -> Write:
        return Write(value=value or 0, overwrote=int(self.client.set(self.key, value, get=True) or 0))

    def parts(self) -> dict[str, int]:
        return {"": int(self.client.get(self.key) or 0)}
