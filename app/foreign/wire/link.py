"""A connection of a worker, and the one to the store behind it: commands are counted, and faults are injected, on the way."""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import redis

from app.failpoints.injection import CommandFailed
from app.foreign.wire.resp import command, message, pack
from app.request.context import here
from app.stores.redis_commands import Command, words
from app.stores.redis_connection import Seam, keys_of_all

# what a client sends to introduce itself, and to see whether its connection is well; it is noted, and counts for no lock
INTRODUCES = frozenset({"HELLO", "AUTH", "CLIENT", "SELECT", "INFO", "COMMAND", "PING", "QUIT"})
AT_MOST = 65536  # bytes


class Closed(Exception):  # noqa: N818 - names what it is
    """A side of the connection is closed, or must be closed."""


class Link(Seam):
    """A pair of connections: near is the worker's, far is the store's."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self.near, self.far = near, far
        self.port = far.getpeername()[1]
        self._from_worker = self._from_store = b""
        for one in (near, far):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begin()

    def carry(self, side: socket.socket) -> None:
        """Carry what has arrived at a side on to the other one. Raises Closed, and what a failpoint raises."""
        try:
            if side is self.near:
                self._carry_commands()
            else:
                self._carry_answers()
        except OSError as error:
            raise Closed from error

    def close(self) -> None:
        """Close both sides."""
        for one in (self.near, self.far):
            with contextlib.suppress(OSError):
                one.close()

    def _carry_commands(self) -> None:
        arrived = self.near.recv(AT_MOST)
        if not arrived:
            raise Closed
        self._from_worker += arrived
        commands, at = [], 0
        while at < len(self._from_worker) and (found := command(self._from_worker, at)) is not None:
            if found[0]:  # the store answers nothing to a command without words
                commands.append(words(found[0]))
            at = found[1]
        raw, self._from_worker = self._from_worker[:at], self._from_worker[at:]
        if commands:
            self._send(commands, raw)

    def _send(self, commands: list[Command], raw: bytes) -> None:
        """Count commands, and send them to the store."""
        counted = [one for one in commands if one[0] not in INTRODUCES]
        if counted:
            try:
                here().sending(counted[-1][0], len(counted), CommandFailed, keys_of_all(counted))
            except CommandFailed as failed:
                raise Closed from failed
        self.far.sendall(raw)
        for one in commands:
            if one[0] in INTRODUCES:
                self.awaited.append(None)
            else:
                self._await([one], len(commands) == 1)

    def _carry_answers(self) -> None:
        arrived = self.far.recv(AT_MOST)
        if not arrived:
            raise Closed
        self._from_store += arrived
        at = 0
        while at < len(self._from_store) and (found := message(self._from_store, at)) is not None:
            answer, raw, at = found[0], self._from_store[at : found[1]], found[1]
            if self._is_told(answer, raw[:1] == b">"):
                self.near.sendall(raw)
        self._from_store = self._from_store[at:]

    def _is_told(self, answer: Any, is_push: bool) -> bool:
        """Note an answer. Return whether the worker gets it: a client that has lost it sends its command again."""
        if is_push or not self.awaited:
            return True
        if (awaited := self.awaited[0]) is None:
            self.awaited.popleft()
            return True
        if isinstance(answer, redis.ResponseError):
            self._refused(awaited.command, answer)
            return True
        try:
            is_told = self._take(awaited, answer)
        except redis.ConnectionError as lost:
            raise Closed from lost
        if not is_told:
            self._send([awaited.command], pack(awaited.command))
        return is_told

    def fail(self, error: BaseException) -> None:
        """Note that no answer will come to what is awaited."""
        for awaited in self.awaited:
            if awaited is not None:
                self._unanswered(awaited.command, error)
        self.awaited.clear()
