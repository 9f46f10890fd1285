"""What a replica remembers, as a hash: two replicas that remember the same do the same from here on.

A request that has tried for the lock in vain often is where it was: the loop begins again, and no variable has another value.
So the tree of a stage's code, in which each history has its own node, is a graph with far fewer nodes.

All is read that the replica's threads can reach: the variables of each function that runs, the globals of the replica's own
copies of modules, and every object behind them. Three things cannot be read, and each has its answer:

- An object whose content Python does not show, and the iterator of a library's ``for`` loop: then the replica is like no other.
- What the real clock read in redis-py, which measures its own speed there: it is left out, for it decides nothing.
- An intermediate value of an expression that another thread or a variable does not hold as well: it is left out.

The last is the one assumption. The random schedules of a search, which run again without any of this, put it to the test.
"""

from __future__ import annotations

import dis
import hashlib
import marshal
import threading
from collections.abc import Callable, Iterable
from contextvars import ContextVar
from enum import Enum
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    GeneratorType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any, NamedTuple

import redis

from app.lock import Stage
from app.request_context import RequestContext
from lab.explore.connection import Connection
from lab.explore.copies import ITERATOR
from lab.explore.replica import Replica, Thread
from lab.explore.tokens import MOST_CLIENTS, has_token, renamed_to

VALUES = frozenset({int, str, bytes, float, bool, type(None)})
CODE = (property, staticmethod, classmethod, MemberDescriptorType, GetSetDescriptorType)
OF_REDIS = redis.__name__ + "."


class Unreadable(Exception):  # noqa: N818 - states what is so
    """An object does not show what it holds."""


class Memory(NamedTuple):
    """What a replica remembers."""

    # the hash of it
    digest: bytes
    # whether it has a token that another replica has drawn; its own is not in the hash, so that all replicas are alike
    has_strange_token: bool


def remembered(replica: Replica) -> Memory | None:
    """Return what a replica remembers; None where some of it cannot be read."""
    try:
        data = Reader(replica).read_all()
    except Unreadable:
        return None
    nobody = [0 if client == replica.number else client + 1 for client in range(MOST_CLIENTS)]
    return Memory(hashlib.blake2b(renamed_to(data, nobody), digest_size=16).digest(), has_token(data, replica.number))


class Reader:
    """Reads one replica. What it has read is a flat list of values, each after the kind and size of what holds it."""

    def __init__(self, replica: Replica) -> None:
        self.replica = replica
        self.found: list[Any] = []
        self.numbers: dict[int, int] = {}  # of each object that was met: a second time, its number is enough
        self.alive: list[Any] = []  # all of them, so that no other object gets their place in memory
        self.own = {id(module.__dict__) for module in replica.copies.loaded}
        self.modules = {module.__name__ for module in replica.copies.loaded}

    def read_all(self) -> bytes:
        """Return all that the replica remembers."""
        replica = self.replica
        self.found += [replica.inside, replica.drawn]
        for thread in replica.threads:
            self.read(thread.pending)
            self.read(thread.watcher)
            self.read(thread.sent)
            self.read(thread.ready)
            self.read([(name, value) for (_, name), value in thread.local.items()])
            if thread.started and not thread.greenlet.dead:
                self._frames(thread.greenlet.gr_frame)
                self._names({one.name: value for one, value in (thread.greenlet.gr_context or {}).items()})
        self.read(list(replica.kept.values()))
        for module in replica.copies.loaded:
            self._names({name: value for name, value in module.__dict__.items() if name != "__builtins__"})
        return marshal.dumps(self.found, 2)

    def _frames(self, frame: FrameType | None) -> None:
        while frame is not None:
            self._frame(frame)
            frame = frame.f_back

    def _frame(self, frame: FrameType) -> None:
        code = frame.f_code
        if in_for_loop(code, frame.f_lasti):
            raise Unreadable
        self.found += ["frame", _known(code).name, frame.f_lasti]
        of_redis = frame.f_globals["__name__"].startswith(OF_REDIS) and id(frame.f_globals) not in self.own
        self._names(frame.f_locals, of_redis)

    def _names(self, values: dict[str, Any], of_redis: bool = False) -> None:
        self.found += ["names", len(values)]
        for name, value in values.items():
            kind = type(value)
            if kind not in VALUES:
                self.found.append(name)
                self.read(value)
            elif not (of_redis and kind is float):
                self.found += (name, value)

    def read(self, value: Any) -> None:
        kind = type(value)
        if kind in VALUES:
            self.found.append(value)
        elif kind is tuple:
            self.several("tuple", value)
        elif id(value) in self.numbers:
            self.found += ["again", self.numbers[id(value)]]
        else:
            self.numbers[id(value)] = len(self.numbers)
            self.alive.append(value)
            self._object(kind, value)

    def several(self, kind: str, values: Iterable[Any]) -> None:
        several = list(values)
        self.found += [kind, len(several)]
        for one in several:
            if type(one) in VALUES:
                self.found.append(one)
            else:
                self.read(one)

    def _object(self, kind: type, value: Any) -> None:
        if (read := READERS.get(kind)) is not None:
            read(self, value)
        elif isinstance(value, tuple):
            self.read(kind)
            self.several("tuple", value)
        elif isinstance(value, type):
            self._class(value)
        elif isinstance(value, redis.ConnectionPool) or (isinstance(value, redis.Redis) and kind is not redis.client.Pipeline):
            self.found += ["of all replicas", id(value)]
        elif isinstance(value, Enum):
            self.read(kind)
            self.found.append(value.name)
        else:
            self._instance(kind, value)

    def _class(self, value: type) -> None:
        """Read a class. Those of the replica's own modules are its own, and may remember something."""
        self.found += ["class", value.__module__, value.__qualname__]
        if value.__module__ in self.modules:
            own = {name: one for name, one in vars(value).items() if not name.startswith("__") and not isinstance(one, CODE)}
            self._names(own)
        else:
            self.found.append(id(value))

    def function(self, value: FunctionType) -> None:
        self.found += ["function", _known(value.__code__).name]
        of_redis = value.__module__.startswith(OF_REDIS)
        for cell in value.__closure__ or ():
            content = _content(cell)
            if not (of_redis and type(content) is float):
                self.read(content)
        if id(value.__globals__) in self.own:
            self.read(value.__defaults__)
            self.read(value.__kwdefaults__)

    def generator(self, value: Any) -> None:
        if value.gi_frame is not None:
            self._frame(value.gi_frame)

    def unordered(self, values: Any) -> None:
        if not all(type(one) in VALUES for one in values):
            raise Unreadable
        self.several("set", sorted(values, key=repr))

    def mapping(self, values: Any) -> None:
        self.found += ["dict", len(values)]
        for pair in values.items():
            for one in pair:
                if type(one) in VALUES:
                    self.found.append(one)
                else:
                    self.read(one)

    def _instance(self, kind: type, value: Any) -> None:
        """Read an object as it would be written to a file: its class, and what makes another one like it."""
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # noqa: BLE001 - whatever an object's own method raises: what it holds is not known
            raise Unreadable from None
        if isinstance(parts, str):
            raise Unreadable
        self.read(kind)
        make, given, *more = parts
        self.read(make)
        self.several("given", given)
        for part in more:
            self.several("part", part) if hasattr(part, "__next__") else self.read(part)


def _is(word: str, about: Callable[[Any], Any] = lambda value: None) -> Callable[[Reader, Any], None]:
    """Return what reads an object of which a few words are enough."""

    def read(reader: Reader, value: Any) -> None:
        reader.found.append(word)
        reader.read(about(value))

    return read


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return None


READERS: dict[type, Callable[[Reader, Any], None]] = {
    list: lambda reader, value: reader.several("list", value),
    dict: Reader.mapping,
    set: Reader.unordered,
    frozenset: Reader.unordered,
    FunctionType: Reader.function,
    MethodType: lambda reader, value: reader.several("method", (value.__func__, value.__self__)),
    BuiltinFunctionType: _is("builtin", lambda value: (value.__qualname__, value.__self__)),
    GeneratorType: Reader.generator,
    CellType: _is("cell", _content),
    ModuleType: _is("module", lambda value: value.__name__),
    ContextVar: _is("variable", lambda value: value.name),
    RequestContext: _is("context"),  # what the journal and the failpoints of a real replica need: no lock can read it
    Stage: _is("stage"),
    Replica: _is("replica"),
    Thread: _is("thread", lambda value: (value.number, value.watcher)),
    Connection: _is("connection", Connection.remembered),
    type(threading.Lock()): _is("lock", lambda value: value.locked()),
    type(threading.RLock()): _is("lock", lambda value: repr(value).partition(" at ")[0]),
}


class _Known(NamedTuple):
    """What is known of code."""

    code: CodeType
    # identifies it, in whichever copy of its module it is
    name: str
    # where each ``for`` loop begins and ends whose iterator is in no variable
    loops: list[tuple[int, int]]


_all_known: dict[int, _Known] = {}  # by the place of the code in memory: to hash code takes long


def _known(code: CodeType) -> _Known:
    found = _all_known.get(id(code))
    if found is None:
        loops = [(one.offset, one.argval) for one in dis.get_instructions(code) if one.opname == "FOR_ITER"]
        if len(loops) == sum(name.startswith(ITERATOR) for name in code.co_varnames):
            loops = []
        found = _all_known[id(code)] = _Known(code, _long_name(code), loops)
    return found


def _long_name(code: CodeType) -> str:
    return f"{code.co_filename}:{code.co_firstlineno}:{code.co_qualname}:{hashlib.blake2b(code.co_code).hexdigest()[:16]}"


def in_for_loop(code: CodeType, place: int) -> bool:
    """Return whether an instruction is inside a ``for`` loop, whose iterator no variable holds."""
    return any(first < place < last for first, last in _known(code).loops)
