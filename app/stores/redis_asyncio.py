"""The connections of redis-py's asyncio clients: they are counted as those of threads are (``redis_connection``).

A lock may run an event loop in the thread of its request, or hand a coroutine to the loop of another thread. The context of the
request follows its tasks, so their commands belong to that request.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import redis
from redis.asyncio.connection import AbstractConnection

from app.journal import Journal
from app.stores.redis_commands import unpacked
from app.stores.redis_connection import Seam, in_one, journal_of

INTRODUCE = AbstractConnection.on_connect_check_health


class CountedAsync(Seam, AbstractConnection):
    """A connection of an asyncio client that reaches the failpoints and counts commands."""

    async def introduce(self, check_health: bool = True) -> None:
        """Begin a new connection. What redis-py sends now does not count."""
        self.begin()
        self.setting_up = True
        try:
            await INTRODUCE(self, check_health)
        finally:
            self.setting_up = False

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        if not self.is_connected:
            await self.connect_check_health(check_health=False)
        if self.setting_up:
            await super().send_packed_command(command, check_health)
            return
        commands = unpacked(packed := in_one(command))
        counts = self._counts(commands, check_health)
        await super().send_packed_command([packed], check_health)
        if counts:
            self._await(commands, alone=len(commands) == 1)

    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        if self.setting_up or not self.awaited:
            return await super().read_response(*args, **kwargs)
        if (sent := self.awaited[0]) is None:
            self.awaited.popleft()
            return await super().read_response(*args, **kwargs)
        command = sent.command
        try:
            answer = await super().read_response(*args, **kwargs)
        except redis.ResponseError as error:
            self._refused(command, error)
            raise
        except BaseException as error:  # also the cancellation of a task that waits for an answer
            self._unanswered(command, error)
            raise
        try:
            if self._take(sent, answer):
                return answer
        except redis.ConnectionError:
            await self.disconnect(nowait=True)
            raise
        await self.send_command(*command)
        return await self.read_response(*args, **kwargs)

    async def disconnect(self, *args: Any, **kwargs: Any) -> None:
        self.awaited.clear()
        await super().disconnect(*args, **kwargs)


def count_all() -> None:
    """Count what asyncio clients of this process send to the servers that ``redis_connection`` counts."""
    AbstractConnection.on_connect_check_health = _introduce  # redis-py has no hook for all clients


async def _introduce(connection: Any, check_health: bool = True) -> None:
    """Begin a new connection; count it if it is to one of the servers."""
    journal: Journal | None = journal_of(connection)
    if journal is None and not isinstance(connection, CountedAsync):
        await INTRODUCE(connection, check_health)
        return
    if not isinstance(connection, CountedAsync):
        kind: Any = type(connection)
        connection.__class__ = _counted(kind)
        connection.journal = journal
    await connection.introduce(check_health)


@cache
def _counted(kind: type[AbstractConnection]) -> type[AbstractConnection]:
    return type(f"Counted{kind.__name__}", (CountedAsync, kind), {})
