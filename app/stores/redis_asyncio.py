"""The connections of redis-py's asyncio clients: they are counted as those of threads are (``redis_connection``).

A lock may run an event loop in the thread of its request, or hand a coroutine to the loop of another thread. The context of the
request follows its tasks, so their commands belong to that request.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import redis
from redis.asyncio.connection import AbstractConnection

from app import sent
from app.injection import ReplyLost
from app.journal import Journal
from app.request_context import request_context
from app.stores.redis_commands import unpacked
from app.stores.redis_connection import Seam, in_one, journal_of, keys_of_all

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
        sent.note_connection(self)

    async def send_packed_command(self, command: Any, check_health: bool = True) -> None:
        if not self.is_connected:
            await self.connect_check_health(check_health=False)
        if self.setting_up:
            await super().send_packed_command(command, check_health)
            return
        packed = in_one(command)
        commands = unpacked(packed)
        for one in commands:
            self._note(one)
        if not request_context.counting:
            await super().send_packed_command([packed], check_health)
            return
        if commands[0][0] == "PING" and not check_health:  # of redis-py's health check
            await super().send_packed_command([packed], check_health)
            if not self.listening:
                self.awaited.append(None)
            return
        request_context.sending(commands[-1][0], len(commands), redis.ConnectionError, keys_of_all(commands))
        await super().send_packed_command([packed], check_health)
        for one in commands:
            self._await(one, alone=len(commands) == 1)

    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        if self.setting_up or not self.awaited:
            return await super().read_response(*args, **kwargs)
        if (sent := self.awaited[0]) is None:
            self.awaited.popleft()
            return await super().read_response(*args, **kwargs)
        command, alone, _ = sent
        try:
            answer = await super().read_response(*args, **kwargs)
        except redis.ResponseError as error:
            self._refused(command, error)
            raise
        except BaseException as error:  # also the cancellation of a task that waits for an answer
            self._unanswered(command, error)
            raise
        self._take(sent)
        try:
            self._answered(command, answer)
        except ReplyLost as lost:
            if not alone or command[0] == "EXEC":  # no client sends half a pipeline again
                await self.disconnect(nowait=True)
                raise redis.ConnectionError("the reply was lost, and the connection with it") from lost
            await self.send_command(*command)
            return await self.read_response(*args, **kwargs)
        return answer

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
