"""The real Redis as a table: state and command → next state and reply.

A state is each key with its value and its time to live. An entry that is missing is asked of the real server: it is emptied,
the state is loaded, the command is sent, and the new state is read. So Redis itself decides every answer: its Lua, its NX, its
PEXPIRE.
"""

from __future__ import annotations

from typing import NamedTuple

from lab.explore.model import EPOCH_MS, on_grid
from lab.explore.store.real_redis import MOST_MS, MOST_TRIES, Contents, MachineStalled, Message, RealRedis, loading
from lab.explore.store.resp import Reply, Words

LEFT_TO_LIVE = b"PTTL"  # TTL rounds by itself


class Transition(NamedTuple):
    """What a command does to a state."""

    state: int
    reply: Reply
    published: tuple[Message, ...]


class Table:
    """What is known so far of what a Redis server does."""

    empty = 0  # the state without any key

    def __init__(self, real: RealRedis) -> None:
        self.real = real
        self.contents: list[Contents] = [()]
        self._numbers: dict[Contents, int] = {(): 0}
        self._answers: dict[tuple[int, Words, int, int], Transition] = {}
        self._later: dict[tuple[int, int], int] = {}
        self._touched: dict[tuple[int, Words, bytes], bool] = {}

    def answer(self, state: int, command: Words, now_ms: int = 0, version: int = 2) -> Transition:
        """Return what a command does in a state. now_ms: on the clock of the search. Raises MachineStalled."""
        if not self.real.needs_clock(command):
            now_ms = 0
        which = state, command, now_ms, version
        found = self._answers.get(which)
        if found is None:
            found = self._answers[which] = self._asked(*which)
        return found

    def _asked(self, state: int, command: Words, now_ms: int, version: int) -> Transition:
        self.real.select(0)
        for _ in range(MOST_TRIES):
            about = command, loading(self.contents[state]), EPOCH_MS + now_ms, version
            reply, contents, published = self.real.execute(*about)
            if self.real.took_ms < MOST_MS:
                return Transition(self.number(contents), in_whole_steps(command, reply), published)
        name = b" ".join(command[:2]).decode(errors="replace")
        raise MachineStalled(f"{name} took longer than {MOST_MS} ms, each of {MOST_TRIES} times")

    def touches(self, state: int, command: Words, key: bytes, now_ms: int = 0) -> bool:
        """Return whether a command touches a key in a state: a transaction of a connection that watches the key then fails."""
        found = self._touched.get((state, command, key))
        if found is None:
            about = loading(self.contents[state]), command, key, EPOCH_MS + now_ms
            found = self._touched[state, command, key] = self.real.touches(*about)
        return found

    def later(self, state: int, passed_ms: int) -> int:
        """Return the state after some time in which nothing was sent."""
        found = self._later.get((state, passed_ms))
        if found is None:
            keys = [key for key in self.contents[state] if not key.ttl_ms or key.ttl_ms > passed_ms]
            left = tuple([key._replace(ttl_ms=key.ttl_ms - passed_ms) if key.ttl_ms else key for key in keys])
            found = self._later[state, passed_ms] = self.number(left)
        return found

    def expires_in_ms(self, state: int) -> int | None:
        """Return when the first key expires; None if no key does."""
        return min((key.ttl_ms for key in self.contents[state] if key.ttl_ms), default=None)

    def number(self, contents: Contents) -> int:
        """Return the number of the state with these keys."""
        found = self._numbers.get(contents)
        if found is None:
            found = self._numbers[contents] = len(self.contents)
            self.contents.append(contents)
        return found


def in_whole_steps(command: Words, reply: Reply) -> Reply:
    """Return a reply in which the time that a command takes does not count: what a key has left to live is rounded up."""
    if command[0] != LEFT_TO_LIVE or not isinstance(reply.value, int) or reply.value <= 0:
        return reply
    value = on_grid(reply.value)
    return Reply(b":%d\r\n" % value, value)
