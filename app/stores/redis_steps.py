"""Let each command on a connection to Redis wait for the controller of ``app/request/steps.py``.

A command waits before it is counted, so for the journal it was not sent yet. The commands to the counter
wait as well: a controller decides the order of reads and writes too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any

import redis

from app.request.steps import COMMAND, LOSE_COMMAND, LOSE_REPLY, REPLY, SEND_TWICE, steps
from app.stores.redis_commands import LISTENING, Command, text

Call = Callable[..., Any]


class Stepped:
    """A connection, of threads or of asyncio, on which each command waits."""

    # whether there is a controller; False while the client introduces itself to the server
    stepping = False
    # whether the connection is subscribed: answers then come like messages, and no command waits for its own answer
    listening: bool
    # for each command that was sent and is not yet answered: its order, and the function that sends it again
    ordered: deque[tuple[str, Callable[[], Any]]]

    async def _at(self, call: Call, at: str, **details: Any) -> Any:
        """Call a function of ``Steps``: it reports to the controller, and ``wait`` also waits for an order."""
        return call(at, **details)

    async def _hold(self, send: Call, command: Command) -> None:
        """Send a command once the controller lets it go."""
        order = await self._at(steps.wait, COMMAND, words=list(map(text, command)))
        if await self._is_broken():  # a client checks a connection that it takes from the pool in the same way
            await done(self.disconnect())  # type: ignore[attr-defined] # of the connection
            await done(self.connect())  # type: ignore[attr-defined] # as above
        if order != LOSE_COMMAND:
            await send()
        if command[0] in LISTENING:
            await self._at(steps.report, REPLY, reply=None)
        else:
            self.ordered.append((order, send))

    async def _is_broken(self) -> bool:
        try:
            return not self.listening and bool(await done(self.can_read()))  # type: ignore[attr-defined] # of the connection
        except (redis.ConnectionError, redis.TimeoutError):
            return True

    async def _held_reply(self, read: Call) -> Any:
        """Read the next reply, and report it, or lose it if that was the order. A message is only read."""
        if not self.ordered:
            return await read()
        order, again = self.ordered.popleft()
        answer, is_lost = None, order in (LOSE_COMMAND, LOSE_REPLY)
        try:
            answer = None if order == LOSE_COMMAND else await read()
            if order == SEND_TWICE:
                await again()
                answer = await read()
        except redis.ResponseError as error:
            await self._at(steps.report, REPLY, reply=f"error: {error}")
            raise
        await self._at(steps.report, REPLY, reply=None if is_lost else _plain(answer))
        if is_lost:
            await done(self.disconnect())  # type: ignore[attr-defined] # of the connection
            raise redis.TimeoutError("the reply was lost")
        return answer


async def done(result: Any) -> Any:
    """Return the result of a connection's method; wait for it if the method is a coroutine function."""
    return await result if type(result) is CoroutineType else result


def at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that never gives control to an event loop."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value
    raise AssertionError


def _plain(answer: Any) -> Any:
    """Return an answer in types that JSON has."""
    if isinstance(answer, list):
        return [_plain(item) for item in answer]
    return answer if answer is None or isinstance(answer, (int, str)) else text(answer)
