"""The connections to Redis that let each command wait for the controller of ``app/request/steps.py``.

It is outside of what counts commands, so a command that is held was not sent yet for the journal. The connections to the counter
are held as well: a controller decides the order of reads and writes too. A connection of asyncio waits in a thread of its own:
the other tasks of its event loop go on.
"""

from __future__ import annotations

from asyncio import wrap_future
from collections import deque
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, cached_property, partial
from types import CoroutineType
from typing import Any

import redis
from redis.asyncio.connection import AbstractConnection as AsyncConnection
from redis.connection import AbstractConnection

from app.request.steps import COMMAND, LOSE_COMMAND, LOSE_REPLY, MESSAGE, REPLY, SEND_TWICE, Steps, steps
from app.stores.redis_commands import LISTENING, text, words

LOST = "the reply was lost"
Call = Callable[..., Any]


class Stepped:
    """A connection on which each command waits, whether it is of threads or of asyncio."""

    # False while the client introduces itself to the server
    stepping = False
    # whether it is subscribed: then what comes is a message, and no reply
    subscribed = False
    # the commands that were sent and are not yet answered, with the order of each
    ordered: deque[tuple[str, Callable[[], Any]]]

    async def _at(self, call: Call, at: str, **about: Any) -> Any:
        """Report to the controller, and wait if ``call`` does."""
        return call(at, **about)

    async def _hold(self, send: Call, *args: Any, **kwargs: Any) -> None:
        again = partial(send, *args, **kwargs)
        if not self.stepping:
            await done(again())
            return
        command = list(map(text, words(args)))
        order = await self._at(steps.wait, COMMAND, words=command)
        if await self._is_broken():  # as a client finds out that takes the connection now
            await done(self.disconnect())
            await done(self.connect())  # type: ignore[attr-defined] # of the connection
        if order != LOSE_COMMAND:
            await done(again())
        if command[0] in LISTENING:
            self.subscribed = True
            await self._at(steps.report, REPLY, reply=None)
        else:
            self.ordered.append((order, again))

    async def _is_broken(self) -> bool:
        try:
            return not self.subscribed and bool(await done(self.can_read()))  # type: ignore[attr-defined] # of the connection
        except (redis.ConnectionError, redis.TimeoutError):
            return True

    async def _held_reply(self, read: Call, *args: Any, **kwargs: Any) -> Any:
        if not self.stepping or not self.ordered:
            message = await done(read(*args, **kwargs))
            if self.subscribed and isinstance(message, list) and text(message[0]) == MESSAGE:
                await self._at(steps.wait, MESSAGE, words=list(map(text, message)))
            return message
        order, again = self.ordered.popleft()
        answer, is_lost = None, order in (LOSE_COMMAND, LOSE_REPLY)
        try:
            answer = None if order == LOSE_COMMAND else await done(read(*args, **kwargs))
            if order == SEND_TWICE:
                await done(again())
                answer = await done(read(*args, **kwargs))
        except redis.ResponseError as error:
            await self._at(steps.report, REPLY, reply=f"error: {error}")
            raise
        await self._at(steps.report, REPLY, reply=None if is_lost else _plain(answer))
        if is_lost:
            await done(self.disconnect())
            raise redis.TimeoutError(LOST)
        return answer

    def disconnect(self, *args: Any, **kwargs: Any) -> Any:
        if self.stepping:
            self.ordered.clear()
        return super().disconnect(*args, **kwargs)  # type: ignore[misc] # of the connection


class SteppedThread(Stepped, AbstractConnection):
    """A connection of threads."""

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        at_once(self._hold(super().send_command, *args, **kwargs))

    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        return at_once(self._held_reply(super().read_response, *args, **kwargs))


class SteppedTask(Stepped, AsyncConnection):
    """A connection of asyncio."""

    @cached_property
    def _holder(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(1)

    async def _at(self, call: Call, at: str, **about: Any) -> Any:
        return await wrap_future(self._holder.submit(copy_context().run, partial(call, at, **about)))

    async def send_command(self, *args: Any, **kwargs: Any) -> None:
        await self._hold(super().send_command, *args, **kwargs)

    async def read_response(self, *args: Any, **kwargs: Any) -> Any:
        return await self._held_reply(super().read_response, *args, **kwargs)


async def done(found: Any) -> Any:
    """Return what a method of a connection returns: that of asyncio's, when it has ended."""
    return await found if type(found) is CoroutineType else found


def at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """Return what a coroutine returns that waits for nothing but its thread."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError


def _plain(answer: Any) -> Any:
    """Return an answer as JSON has it."""
    if isinstance(answer, list):
        return [_plain(one) for one in answer]
    return answer if answer is None or isinstance(answer, (int, str)) else text(answer)


def step(connection: Any) -> None:
    """Let each command of a connection that was just introduced wait for the controller, if there is one."""
    if Steps.address is not None:
        if not isinstance(connection, Stepped):
            kind: Any = type(connection)
            connection.__class__ = _stepped(kind)
        connection.ordered, connection.stepping = deque(), True


@cache
def _stepped(kind: type[Any]) -> type[Stepped]:
    held = SteppedTask if issubclass(kind, AsyncConnection) else SteppedThread
    return type(f"Stepped{kind.__name__}", (held, kind), {})
