"""The connections to Redis that let each command wait for the controller of ``app/failpoints/steps.py``.

It is outside of what counts commands, so a command that is held was not sent yet for the journal. The connections to the counter
are held as well: a controller decides the order of reads and writes too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

import redis
from redis.connection import AbstractConnection

from app.failpoints.steps import COMMAND, LOSE_COMMAND, LOSE_REPLY, MESSAGE, REPLY, SEND_TWICE, Steps, steps
from app.stores.redis_commands import LISTENING, text, words

LOST = "the reply was lost"


class Stepped(AbstractConnection):
    """A connection on which each command waits."""

    server = ""
    # False while the client introduces itself to the server
    stepping = False
    # whether it is subscribed: then what comes is a message, and no reply
    subscribed = False
    # the commands that were sent and are not yet answered, with the order of each
    ordered: deque[tuple[str, tuple[Any, ...]]]

    def send_command(self, *args: Any, **kwargs: Any) -> None:
        if not self.stepping:
            super().send_command(*args, **kwargs)
            return
        command = list(map(text, words(args)))
        order = steps.wait(COMMAND, server=self.server, words=command)
        if self._is_broken():  # as a client finds out that takes the connection now
            self.disconnect()
            self.connect()
        if order != LOSE_COMMAND:
            super().send_command(*args, **kwargs)
        if command[0] in LISTENING:
            self.subscribed = True
            steps.report(REPLY, reply=None)
        else:
            self.ordered.append((order, args))

    def _is_broken(self) -> bool:
        try:
            return not self.subscribed and bool(self.can_read(timeout=0))
        except (redis.ConnectionError, redis.TimeoutError):
            return True

    def read_response(self, *args: Any, **kwargs: Any) -> Any:
        if not self.stepping or not self.ordered:
            message = super().read_response(*args, **kwargs)
            if self.subscribed and isinstance(message, list) and text(message[0]) == MESSAGE:
                steps.wait(MESSAGE, words=list(map(text, message)))
            return message
        order, command = self.ordered.popleft()
        answer = None if order == LOSE_COMMAND else self._answer(order, command, args, kwargs)
        if order in (LOSE_COMMAND, LOSE_REPLY):
            steps.report(REPLY, reply=None)
            self.disconnect()
            raise redis.TimeoutError(LOST)
        return answer

    def _answer(self, order: str, command: tuple[Any, ...], args: Any, kwargs: Any) -> Any:
        """Read the reply, and report it. Raises what the server answers."""
        try:
            answer = super().read_response(*args, **kwargs)
            if order == SEND_TWICE:
                super().send_command(*command)
                answer = super().read_response(*args, **kwargs)
        except redis.ResponseError as error:
            steps.report(REPLY, reply=f"error: {error}")
            raise
        if order != LOSE_REPLY:
            steps.report(REPLY, reply=_plain(answer))
        return answer

    def disconnect(self, *args: Any, **kwargs: Any) -> None:
        if self.stepping:
            self.ordered.clear()
        super().disconnect(*args, **kwargs)


def _plain(answer: Any) -> Any:
    """Return an answer as JSON has it."""
    if isinstance(answer, list):
        return [_plain(one) for one in answer]
    return answer if answer is None or isinstance(answer, (int, str)) else text(answer)


def stepped(hook: Callable[[Any], None], server: str) -> Callable[[Any], None]:
    """Return a hook for new connections, which also lets each command wait for the controller, if there is one.

    server: what the controller calls it.
    """

    def begin(connection: Any) -> None:
        connection.stepping = False
        hook(connection)
        if not isinstance(connection, Stepped):
            kind: Any = type(connection)
            connection.__class__ = _stepped(kind)
        connection.server, connection.ordered, connection.stepping = server, deque(), True

    return hook if Steps.address is None else begin


@cache
def _stepped(kind: type[AbstractConnection]) -> type[AbstractConnection]:
    return type(f"Stepped{kind.__name__}", (Stepped, kind), {})
