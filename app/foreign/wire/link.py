"""Forward a worker's connection to the store: on the way, commands are counted, and faults are injected."""

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

# commands of a client about its connection: they are forwarded, and not counted
INTRODUCES = frozenset({"HELLO", "AUTH", "CLIENT", "SELECT", "INFO", "COMMAND", "PING", "QUIT"})
AT_MOST = 65536  # bytes


class Closed(Exception):  # noqa: N818 - a state, not an error
    """A side of the connection is closed, or must be closed."""


class Link(Seam):
    """A pair of connections: ``near`` to the worker, ``far`` to the store."""

    def __init__(self, near: socket.socket, far: socket.socket) -> None:
        self.near, self.far = near, far
        self.port = far.getpeername()[1]
        self._from_worker = self._from_store = b""
        for side in (near, far):
            side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.begin()

    def carry(self, side: socket.socket) -> None:
        """Forward the bytes that have arrived at one side to the other side. Raises Closed, and the errors of failpoints."""
        try:
            if side is self.near:
                self._carry_commands()
            else:
                self._carry_answers()
        except OSError as error:
            raise Closed from error

    def close(self) -> None:
        """Close both sides."""
        for side in (self.near, self.far):
            with contextlib.suppress(OSError):
                side.close()

    def _carry_commands(self) -> None:
        arrived = self.near.recv(AT_MOST)
        if not arrived:
            raise Closed
        self._from_worker += arrived
        commands, at = [], 0
        while at < len(self._from_worker) and (parsed := command(self._from_worker, at)) is not None:
            if parsed[0]:  # the store answers nothing to a command without words
                commands.append(words(parsed[0]))
            at = parsed[1]
        raw, self._from_worker = self._from_worker[:at], self._from_worker[at:]
        if commands:
            self._send(commands, raw)

    def _send(self, commands: list[Command], raw: bytes) -> None:
        """Count commands, and send them to the store."""
        counted = [command for command in commands if command[0] not in INTRODUCES]
        if counted:
            try:
                here().sending(counted[-1][0], len(counted), CommandFailed, keys_of_all(counted))
            except CommandFailed as failed:
                raise Closed from failed
        self.far.sendall(raw)
        for sent in commands:
            if sent[0] in INTRODUCES:
                self.awaited.append(None)
            else:
                self._await([sent], len(commands) == 1)

    def _carry_answers(self) -> None:
        arrived = self.far.recv(AT_MOST)
        if not arrived:
            raise Closed
        self._from_store += arrived
        at = 0
        while at < len(self._from_store) and (parsed := message(self._from_store, at)) is not None:
            answer, raw, at = parsed[0], self._from_store[at : parsed[1]], parsed[1]
            if self._is_told(answer, raw[:1] == b">"):
                self.near.sendall(raw)
        self._from_store = self._from_store[at:]

    def _is_told(self, answer: Any, is_push: bool) -> bool:
        """Note an answer. Return whether the worker gets it; if it is lost, send the command again, as a client does."""
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
        """Note that no answer will come to the awaited commands."""
        for awaited in self.awaited:
            if awaited is not None:
                self._unanswered(awaited.command, error)
        self.awaited.clear()
