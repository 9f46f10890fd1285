"""Several independent Redis servers, asked all at once: a command is sent to each before any answer is read.

Who is not there, or does not answer in time, is a vote less and nothing worse: the answers of the others stand.
"""

from __future__ import annotations

import time
from typing import Any

import redis

from app.endpoint import Endpoint
from app.failpoints import ReplyLost, request_context
from app.journal import Journal
from app.settings import Settings
from app.stores.redis import CLIENT_OPTIONS as ONE_NODE
from app.stores.redis import Redis, client

NODE_TIMEOUT_S = 0.05
CLIENT_OPTIONS = ONE_NODE | {"socket_timeout": NODE_TIMEOUT_S, "socket_connect_timeout": NODE_TIMEOUT_S}
# a silent node must cost no time while the others are not even asked: so a connection says nothing of itself when it is made
UNHEARD = {"driver_info": None, "socket_timeout": NODE_TIMEOUT_S, "socket_connect_timeout": NODE_TIMEOUT_S}


class RedisNodes:
    """The client a lock is handed."""

    Error = redis.RedisError

    def __init__(self, endpoint: Endpoint, gated: bool) -> None:
        self.nodes = [client(Redis, endpoint, address, **UNHEARD) for address in endpoint.addresses]
        self.gated = gated

    def all(self, *command: Any) -> list[Any]:
        """Each node's answer, in their order; for one that gave none, the error. Reaches the failpoints as one command."""
        if not self.gated:
            return self._all(*command)
        request_context.sending()
        answers = self._all(*command)
        try:
            request_context.sent(command[0], _by_majority(answers))
        except ReplyLost:  # as a client that sends a command again when the answers do not come
            answers = self._all(*command)
            request_context.sent(command[0], _by_majority(answers))
        return answers

    def close(self) -> None:
        """Let go of all connections."""
        for node in self.nodes:
            node.close()

    def _all(self, *command: Any) -> list[Any]:
        asked = [_send(node, command) for node in self.nodes]
        until_s = time.monotonic() + NODE_TIMEOUT_S
        return [_read(node, connection, until_s) for node, connection in zip(self.nodes, asked, strict=True)]


def _by_majority(answers: list[Any]) -> int:
    """How many said yes, if they are enough."""
    yes = sum(bool(answer) and not isinstance(answer, Exception) for answer in answers)
    return yes if yes > len(answers) // 2 else 0


def _send(node: Redis, command: tuple[Any, ...]) -> Any:
    """The connection on which an answer is to come, or the error."""
    try:
        connection = node.connection_pool.get_connection()
    except redis.RedisError as error:
        return error
    try:
        connection.send_command(*command)
    except redis.RedisError as error:
        connection.disconnect()
        node.connection_pool.release(connection)
        return error
    return connection


def _read(node: Redis, connection: Any, until_s: float) -> Any:
    if isinstance(connection, Exception):
        return connection
    try:
        if not connection.can_read(timeout=max(0, until_s - time.monotonic())):
            raise redis.TimeoutError(f"no answer within {NODE_TIMEOUT_S} s")
        return connection.read_response()
    except redis.ResponseError as error:
        return error
    except redis.RedisError as error:
        connection.disconnect()  # an answer that comes late must not be taken for that of the next command
        return error
    finally:
        node.connection_pool.release(connection)


def connect(settings: Settings, journal: Journal) -> RedisNodes:
    """The client a lock is handed."""
    return RedisNodes(settings.redis_nodes_url, gated=journal.on)
