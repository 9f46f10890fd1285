"""A store whose states cannot be loaded, as a table: a state is reached by replaying a history that leads to it.

A state is what can be read of a fresh place in the real store: a prefix of etcd, a node of ZooKeeper, rows of MariaDB. An
entry that is missing is asked of the real server: the history of the state is sent to a fresh place, then the command, and
what is there is read. A place that already stands at the state is used first.

Time is the search's. A lease or a session of the real server is long, and never ends by itself. It ends by a command, EXPIRE,
when the clock of the search says so. So the time that each has left is a part of the state here, and not of the server: what
the server answers does not depend on it.
"""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections import Counter, OrderedDict
from collections.abc import Collection
from typing import NamedTuple

from lab.explore.model import Memo, NotExplored, Numbered
from lab.explore.store.commands import EVENTS
from lab.explore.store.real_redis import Contents, Key
from lab.explore.store.resp import Reply, Words
from lab.explore.store.table import StoreTable, Transition

EXPIRE = b"EXPIRE"  # ends a lease or a session, whose name follows
LEFT = b"LEFT"  # the process of a client has died, whose letter follows, or one of its connections has broken
GIVES_UP = b"GIVES_UP"  # the server ends a command that has waited for too long; the command follows
UNUSED_FOR_S = 60.0
LEASES_FROM, LEASES_OF_ONE = 0xA00000, 0x100000  # the numbers of the leases of the first client, and how many each may have
RENEWALS = (b"LeaseKeepAlive", b"Ping")
FROM_A_REVISION = b'"start_revision":'  # of a watch of etcd
CHECKSUM = bytes(10)  # the search takes as many bytes from the end of each value for Redis' checksum


class Item(NamedTuple):
    """One thing that can be read: a key, a node, a row."""

    name: bytes
    value: bytes
    # the lease that it ends with; empty without one
    lease: bytes = b""


class Lease(NamedTuple):
    """A lease or a session that has not ended."""

    name: bytes
    # how long it lives after each renewal, in milliseconds
    ttl_ms: int
    # the number of the client that it was granted to
    client: int


class Shape(NamedTuple):
    """What can be read of a place. With the time that leases have left, it is a state."""

    items: tuple[Item, ...]
    # in the order of their names
    leases: tuple[Lease, ...] = ()
    # what else decides what the store does next: numbers that were given away, watches
    rest: bytes = b""


class Done(NamedTuple):
    """What a command did."""

    reply: Reply
    # the names of the leases whose time begins again
    renewed: tuple[bytes, ...] = ()


class StorePlace(ABC):
    """A fresh place in a real store: there, numbers and names count from its own start.

    A lease or a session is named by the client that it was granted to, so that it has the same name in each place. A place that
    nobody has used for long is not used again: what is long at the server may end.
    """

    def __init__(self) -> None:
        self.writes: list[int] = []  # the numbers that the server has given to the changes here, in their order
        self.granted: Counter[int] = Counter()  # by client, how many leases or sessions
        self._used_s = time.monotonic()

    @abstractmethod
    def do(self, command: Words) -> Done:
        """Execute a command. The reply is WAITING where the server does not answer yet."""

    @abstractmethod
    def read(self) -> Shape:
        """Return what is there."""

    @abstractmethod
    def close(self) -> None:
        """Leave the place: what is there is not needed any more."""

    @property
    def is_spent(self) -> bool:
        """Whether the place does not stand where it should any more, or was unused for too long."""
        return time.monotonic() - self._used_s > UNUSED_FOR_S

    def use(self) -> None:
        """Note that the place is used."""
        self._used_s = time.monotonic()

    def new_lease(self, client: int) -> int:
        """Return the number of a new lease of a client."""
        self.granted[client] += 1
        return LEASES_FROM + client * LEASES_OF_ONE + self.granted[client]

    def number_here(self, there: int) -> int:
        """Return the number of a change of the server as the place counts it: 1 before its first."""
        return 1 + bisect_right(self.writes, there)


class RealStore(ABC):
    """A real server, in which there is room for any number of places. Several processes never use it at once."""

    # how many places can be in use at once
    most_places: int
    version: str
    _places = 0  # of this process

    @abstractmethod
    def place(self) -> StorePlace:
        """Return a fresh place."""

    @abstractmethod
    def close(self) -> None:
        """Close all connections."""

    def new_name(self) -> str:
        """Return a name for a place that no other place has."""
        RealStore._places += 1
        return f"{os.getpid()}-{self._places}"

    def sends_again(self, command: Words) -> bool:
        """Return whether the lab's client sends a command again whose reply was lost; otherwise it raises an error."""
        return True

    def connection_of(self, command: Words) -> bytes:
        """Return the connection that breaks where the reply to a command is lost; empty where the store keeps nothing for one."""
        return b""


class _Effect(NamedTuple):
    """What a command does to a shape: the number of the next one, the reply, and the leases whose time begins again."""

    shape: int
    reply: Reply
    renewed: tuple[bytes, ...]


class Histories(StoreTable):
    """What is known so far of what such a store does. The empty state is that of a fresh place."""

    loses_data = False  # each change is on a disk before it is answered

    def __init__(self, real: RealStore) -> None:
        self.real = real
        # of each state: its shape, and the time in milliseconds that each lease has left, in the order of the leases
        self.states: Numbered[tuple[int, tuple[int, ...]]] = Numbered()
        self.contents: list[Contents] = []
        self.shapes: Numbered[Shape] = Numbered()
        # of each shape: a history that leads to it
        self.histories: dict[int, tuple[Words, ...]] = {}
        self._effects = Memo[tuple[int, Words], _Effect](self._asked)
        self._places: OrderedDict[int, StorePlace] = OrderedDict()  # by shape, places that stand there
        place = real.place()
        self._places[self.shape_number(place.read(), ())] = place
        self._state(0, ())

    def close(self) -> None:
        """Leave all places, and close the connections."""
        self.leave()
        self.real.close()

    def leave(self) -> None:
        """Leave all places."""
        while self._places:
            self._places.popitem()[1].close()

    def answer(self, state: int, command: Words, now_ms: int = 0, version: int = 2, node: int = 0) -> Transition:
        """Return what a command does in a state. Raises NotExplored where a history does not lead where it led before."""
        shape, left = self.states[state]
        effect = self._effect(shape, command)
        if effect.shape != shape or effect.renewed:  # leases that it has renewed, and new ones, have their whole time
            had = {lease.name: ms for lease, ms in self._leases(state) if lease.name not in effect.renewed}
            left = tuple([had.get(lease.name, lease.ttl_ms) for lease in self.shapes[effect.shape].leases])
        return Transition(self._state(effect.shape, left), effect.reply, ())

    def later(self, state: int, passed_ms: int) -> int:
        """Return the state after some time in which nothing was sent: leases whose time is over end, the shortest first."""
        number, left = self.states[state]
        ending = sorted((ms, lease.name) for lease, ms in self._leases(state) if ms <= passed_ms)
        after = self._state(number, tuple([max(1, ms - passed_ms) for ms in left]))
        for _, name in ending:
            after = self.answer(after, (EXPIRE, name)).state
        return after

    def expires_in_ms(self, state: int) -> int | None:
        return min(self.states[state][1], default=None)

    def given_up(self, state: int, command: Words, now_ms: int = 0, version: int = 2, node: int = 0) -> Transition:
        return self.answer(state, (GIVES_UP, *command))

    def sends_again(self, command: Words) -> bool:
        return self.real.sends_again(command)

    def live(self, database: int = 0) -> LiveHistory:
        return LiveHistory(self)

    def renewed_ms(self, state: int, client: int, now_ms: int) -> int | None:
        mine = [lease.ttl_ms - ms for lease, ms in self._leases(state) if lease.client == client]
        return now_ms - min(mine) if mine else None

    def without_leases(self, state: int, clients: Collection[int]) -> int:
        for lease, _ in self._leases(state):
            if lease.client in clients:
                state = self.answer(state, (EXPIRE, lease.name)).state
        return state

    def is_renewal(self, before: int, after: int) -> bool:
        return self.states[before][0] == self.states[after][0] and before != after

    def left_by(self, state: int, client: int) -> int:
        return self._left(state, client, b"0")

    def disconnected(self, state: int, client: int, command: Words) -> int:
        connection = self.real.connection_of(command)
        return self._left(state, client, connection) if connection else state

    def _left(self, state: int, client: int, connection: bytes) -> int:
        return self.answer(state, (LEFT, b"%d" % client, connection)).state

    def is_prompt(self, state: int, command: Words) -> bool:
        if command[0] in RENEWALS:
            return self._effect(self.states[state][0], command).renewed != ()
        if command[0] in EVENTS:
            return any(lease.name == command[1] for lease, _ in self._leases(state))
        return command[0] == b"Watch" and FROM_A_REVISION in command[1]

    def _leases(self, state: int) -> list[tuple[Lease, int]]:
        """Return the leases that have not ended, each with the time that it has left."""
        shape, left = self.states[state]
        return list(zip(self.shapes[shape].leases, left, strict=True))

    def _effect(self, shape: int, command: Words) -> _Effect:
        return self._effects[shape, command]

    def _asked(self, shape: int, command: Words) -> _Effect:
        place = self._places.pop(shape, None)
        if place is not None and place.is_spent:
            place.close()
            place = None
        if place is None:
            place = self._replayed(shape)
        done = place.do(command)
        history = self.histories[shape]
        after = self.shape_number(place.read(), (*history, command)) if not place.is_spent else shape
        if place.is_spent or after in self._places:
            place.close()
        else:
            self._places[after] = place
        return _Effect(after, done.reply, done.renewed)

    def _replayed(self, shape: int) -> StorePlace:
        while len(self._places) >= self.real.most_places:
            self._places.popitem(last=False)[1].close()
        place = self.real.place()
        for command in self.histories[shape]:
            place.do(command)
        if place.read() != self.shapes[shape]:
            raise NotExplored(f"the store is not repeatable: a history led to {self.shapes[shape]}, and now to {place.read()}")
        return place

    def shape_number(self, shape: Shape, history: tuple[Words, ...]) -> int:
        """Return the number of a shape. history: one that leads to it, should it be new."""
        number = self.shapes.number(shape)
        self.histories.setdefault(number, history)
        return number

    def _state(self, shape: int, left: tuple[int, ...]) -> int:
        number = self.states.number((shape, left))
        if number == len(self.contents):
            lives = {lease.name: ms for lease, ms in self._leases(number)}  # a state as keys with a time to live
            keys = [Key(one.name, one.value + CHECKSUM, lives.get(one.lease, 0)) for one in self.shapes[shape].items]
            keys += [Key(name, CHECKSUM, ms) for name, ms in lives.items()]
            keys += [Key(b"", rest + CHECKSUM, 0)] if (rest := self.shapes[shape].rest) else []
            self.contents.append(tuple(keys))
        return number


class LiveHistory(Histories):
    """One place in which each command is executed once, in the order of a schedule. Its states have a table's numbers."""

    def __init__(self, table: Histories) -> None:
        self.__dict__ |= vars(table)  # all but the place, and how the schedule has come to each shape
        self.table = table
        self.histories = {0: ()}
        self._places = OrderedDict({0: table.real.place()})

    def close(self) -> None:
        """Leave the place. The connections are the table's."""
        self.leave()

    def is_prompt(self, state: int, command: Words) -> bool:
        return self.table.is_prompt(state, command)

    def _effect(self, shape: int, command: Words) -> _Effect:
        return self._asked(shape, command)

    def shape_number(self, shape: Shape, history: tuple[Words, ...]) -> int:
        """Return the number of a shape, and remember how the schedule has come to it."""
        number = self.table.shape_number(shape, history)
        self.histories.setdefault(number, history)
        return number
