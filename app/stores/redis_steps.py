"""The connections to Redis that let each command wait for the controller of ``app/request/steps.py``.

It is outside of the count of commands, so for the journal a held command was not sent yet. The connections to the counter
are held as well: a controller decides the order of reads and writes too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine
from types import CoroutineType
from typing import Any

import redis

from app.request.steps import COMMAND, LOSE_COMMAND, LOSE_REPLY, MESSAGE, REPLY, SEND_TWICE, steps
from app.stores.redis_commands import LISTENING, Command, text

Call = Callable[..., Any]


class Stepped:
    """A connection on which each command waits, whether it is of threads or of asyncio."""

    # whether there is a controller; False while the client introduces itself to the server
    stepping = False
    # from the first subscription on, answers come when they come, as messages do: no command waits for its own
    listening: bool
    # the commands that were sent and are not yet answered, with the order of each
    ordered: deque[tuple[str, Callable[[], Any]]]

    async def _at(self, call: Call, at: str, **about: Any) -> Any:
        """Report to the controller, and wait if ``call`` does."""
        return call(at, **about)

    async def _hold(self, send: Call, command: Command) -> None:
        """Send a command once the controller lets it go."""
        order = await self._at(steps.wait, COMMAND, words=list(map(text, command)))
        if await self._is_broken():  # as a client finds out that takes the connection now
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
        """Read the next reply, and report it, or lose it if that was the order; of a message, wait before it is taken."""
        if not self.ordered:
            message = await read()
            if self.listening and isinstance(message, list) and text(message[0]) == MESSAGE:
                await self._at(steps.wait, MESSAGE, words=list(map(text, message)))
            return message
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


async def done(found: Any) -> Any:
    """Return the result of a connection's method: of asyncio's, when the method has ended."""
    return await found if type(found) is CoroutineType else found


def at_once(work: Coroutine[Any, Any, Any]) -> Any:
    """Return the result of a coroutine that waits for nothing but its thread."""
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
