"""Several independent Redis servers. A command is sent to all of them before the first answer is read.

A server that is down, or does not answer in time, is one vote less; the remaining answers are still used.
"""

from __future__ import annotations

import time
from typing import Any

import redis

from app.failpoints.injection import ReplyDropped, ReplyLost
from app.request.context import here, not_counted
from app.settings import Endpoint, Settings
from app.stores.redis import CLIENT_OPTIONS as ONE_NODE
from app.stores.redis import UNNAMED, Redis, client
from app.stores.redis_commands import keys, meaning, prolongs, script
from app.stores.redis_connection import count_all  # noqa: F401 - lock_store calls it

NODE_TIMEOUT_S = 0.05
CLIENT_OPTIONS = ONE_NODE | {"socket_timeout": NODE_TIMEOUT_S, "socket_connect_timeout": NODE_TIMEOUT_S}
# A new connection sends no command of its own: it would wait for a silent node, and delay the command to the next nodes.
UNHEARD = UNNAMED | {"socket_timeout": NODE_TIMEOUT_S, "socket_connect_timeout": NODE_TIMEOUT_S}


class RedisNodes:
    """The client for a lock."""

    Error = redis.RedisError

    def __init__(self, endpoint: Endpoint, counted: bool = False) -> None:
        self.nodes = [client(Redis, endpoint, address, **UNHEARD) for address in endpoint.addresses]
        self.counted = counted

    def all(self, *command: Any) -> list[Any]:
        """Return the nodes' answers in order; the error of a node without an answer. For the failpoints it is one command."""
        if not self.counted:
            return self._all(*command)
        try:
            return self._ask(command)
        except ReplyDropped as dropped:
            return [redis.ConnectionError(str(dropped)) for _ in self.nodes]
        except ReplyLost:  # behave as a client that sends a command again after lost replies
            return self._ask(command)

    def plain(self, **options: Any) -> list[redis.Redis]:
        """Return a client for each node, for a library. Each command to each node is counted."""
        return [node.plain(**options) for node in self.nodes]

    def close(self) -> None:
        """Close all connections."""
        for node in self.nodes:
            node.close()

    def _ask(self, command: tuple[Any, ...]) -> list[Any]:
        """Ask all nodes. For the failpoints that is one command, so the connections do not count."""
        here().sending(command[0], error=redis.ConnectionError, keys=keys(command))
        with not_counted():
            answers = self._all(*command)
        answer = _by_majority(answers)
        means = meaning(command, answer)
        here().answered(command[0], answer, means, keys(command), script=script(command), prolongs=prolongs(command))
        return answers

    def _all(self, *command: Any) -> list[Any]:
        connections = [_send(node, command) for node in self.nodes]
        until_s = time.monotonic() + NODE_TIMEOUT_S
        return [_read(node, connection, until_s) for node, connection in zip(self.nodes, connections, strict=True)]


def _by_majority(answers: list[Any]) -> int:
    """Return how many nodes said yes if they are a majority, otherwise zero."""
    yes = sum(bool(answer) and not isinstance(answer, Exception) for answer in answers)
    return yes if yes > len(answers) // 2 else 0


def _send(node: Redis, command: tuple[Any, ...]) -> Any:
    """Send the command. Return the connection on which the answer will come, or the error."""
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
        connection.disconnect()  # a late answer must not be taken for the answer to the next command
        return error
    finally:
        node.connection_pool.release(connection)


def connect(settings: Settings, counted: bool) -> RedisNodes:
    """Make the client for a lock."""
    return RedisNodes(settings.redis_nodes_url, counted)
