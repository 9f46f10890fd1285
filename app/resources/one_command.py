"""INCR: reads and writes in one command."""

from __future__ import annotations

from app.lock import Grant
from app.resource import Write
from app.stores.redis import Redis


class Counter:
    in_lock_store = False

    def __init__(self, client: Redis, key: str) -> None:
        self.client = client
        self.key = key

    def read(self, grant: Grant) -> None:
        return None

    def write(self, value: int | None, grant: Grant) -> Write:
        value = self.client.incr(self.key)
        return Write(value=value, overwrote=value - 1)

    def parts(self) -> dict[str, int]:
        return {"": int(self.client.get(self.key) or 0)}
