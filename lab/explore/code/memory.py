"""All that a replica remembers, as a value: replicas with equal memories continue alike, whatever happened to each before.

What code does next depends on where its threads stand, on all that can be reached from there, and on what comes. ``pickle``
writes all of this as one value, with which object is which, and two states are one only if the values are equal. Source: state
matching (Visser and others, "Model Checking Programs"). A state of which something cannot be seen stays a state of its own:

- A value waits on the stack of a frame: the iterator of a ``for``, the manager of a ``with``, an operand beside a call. The
  bytecode says how many do. In ``KNOWN`` files these are constants, and parts of variables that do not change.
- A function of the interpreter stands between two frames, such as ``sorted`` with its key: a line of the stage must call the
  very code that runs next. A generator is hidden as well, and variables that a frame shares with another function.
- pickle has no value of an object (a generator, a context variable, a weak reference, what ``threading.local`` keeps), or the
  object says by itself what its value is.

Nothing is left out for its library: the token in a lock of redis-py counts, and so does which connection its pool gives next.
Of the explorer's own objects, the parts that change are written here. Of modules that all replicas share, names are: with or
without this, the explorer does not follow what code writes there.
"""

from __future__ import annotations

import _thread
import ast
import dis
import inspect
import io
import pickle
import sys
import threading
import types
import weakref
from collections import ChainMap
from collections.abc import Callable
from enum import Enum
from functools import cache
from hashlib import blake2b
from linecache import getline
from operator import attrgetter
from pathlib import Path
from types import ModuleType
from typing import Any

import redis

from lab.explore.code.replica import Replica, Thread
from lab.explore.code.sockets import Socket, wires
from lab.explore.code.stand_ins import ReplicaMutex
from lab.paths import HOME

APP, HERE = HOME / "app", Path(__file__).parent
# files of which the stack is known: in these of the lab, what calls the stage is known as well
OF_LAB = {str(APP / "increment.py"), *map(str, (APP / "resources").glob("*.py"))}
OF_LAB |= {str(HERE / f"{name}.py") for name in ("program", "replica", "sockets", "wire")}
KNOWN = OF_LAB | {str(HERE / "stand_ins.py"), threading.__file__}
CHECKED = (f"{APP}/", f"{Path(redis.__file__).parent}/")  # other files may hide something
OWN_FRAME = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
LAST = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
OF_FUNCTION = "__code__ __defaults__ __kwdefaults__ __closure__ __dict__ __doc__ __module__ __name__ __qualname__"
REPORTS = ("_stderr", "_invoke_excepthook")  # where a thread reports an error
OF_EXPLORER = ("Replica", "Thread", "Program", "Drawing", "Modules", "RequestContext", "Journal")
HEAP_TYPE = 1 << 9
OWN_VALUE = ("__reduce__", "__reduce_ex__", "__getstate__")
HOOKS = {"__getattribute__", "__getnewargs__", "__getnewargs_ex__", "__del__"}
_kept: dict[int, types.CodeType] = {}  # so that no other code gets the same address


# by type, the parts of which the value of a thing consists
PARTS: dict[type, Callable[[Any], Any]] = {
    types.FunctionType: attrgetter(*OF_FUNCTION.split()),
    types.BuiltinFunctionType: lambda one: (one.__module__, one.__name__, type(one.__self__) is ModuleType or one.__self__),
    types.CodeType: lambda one: id(_kept.setdefault(id(one), one)),
    types.MethodType: attrgetter("__func__", "__self__"),
    types.CellType: attrgetter("cell_contents"),
    types.MappingProxyType: dict,
    property: attrgetter("fget", "fset", "fdel", "__doc__"),
    **dict.fromkeys((types.GetSetDescriptorType, types.MemberDescriptorType), attrgetter("__name__")),
    **dict.fromkeys((staticmethod, classmethod), attrgetter("__func__", "__dict__")),
    threading.Thread: lambda one: {name: value for name, value in vars(one).items() if name not in REPORTS},
    ReplicaMutex: attrgetter("_is_held", "_outside"),
    Socket: wires.get,
    # made outside of all replicas
    **dict.fromkeys((_thread.LockType, _thread.RLock), lambda one: repr(one).partition(" at ")[0]),
}


def remembered(replica: Replica) -> bytes | None:
    """Return what a replica remembers, as a digest; None if some of it cannot be seen."""
    modules, memory = replica.modules, io.BytesIO()
    waits = [
        (one.own, one.request, one.pending, one.ready, one.sent, one.recent, one.drawn, one.thread) for one in replica.threads
    ]
    about = replica.inside, replica.asking_again, replica.closed, replica.connections, replica.drawn, replica.naps
    try:
        frames = [_frames(one, modules.paths) for one in replica.threads]
        own = [(name, vars(one)) for name, one in modules.own.items()]
        _Values(memory, modules).dump((frames, waits, about, own, modules.addresses))
    except Exception:  # noqa: BLE001 - whatever has no value, or cannot be looked at
        return None
    return blake2b(memory.getvalue(), digest_size=32).digest()


def _frames(thread: Thread, paths: set[str]) -> list[Any]:
    """Return where a thread stands, and its variables. Raises an error if something cannot be told."""
    if thread.deliver or thread.loop or thread.at is not thread.greenlet:
        raise pickle.PicklingError
    found: list[Any] = [(one.name, value) for one, value in (thread.greenlet.gr_context or {}).items()]
    frame, inner = thread.greenlet.gr_frame, None
    while frame is not None:
        code, file = frame.f_code, frame.f_code.co_filename
        is_own = file in paths
        if file not in KNOWN and (not (is_own or file.startswith(CHECKED)) or _left(code)[frame.f_lasti]):
            raise pickle.PicklingError
        meets_stage = is_own or (inner is not None and inner.co_filename in paths)
        if meets_stage and file not in OF_LAB and _called(frame) is not inner:
            raise pickle.PicklingError
        if is_own and (code.co_flags & OWN_FRAME or {*code.co_cellvars, *code.co_freevars} - {"__class__"}):
            raise pickle.PicklingError
        found.append((code, frame.f_lasti, dict(frame.f_locals)))
        frame, inner = frame.f_back, code
    return found


@cache
def _left(code: types.CodeType) -> dict[int, int]:
    """Return how many values wait on the stack during each call of a code, by its place; not of calls in handlers of errors."""
    found: dict[int, int] = {}
    each = list(dis.get_instructions(code))
    at, todo = {one.offset: (one, then) for one, then in zip(each, [*each[1:], None], strict=True)}, [(0, 0)]
    while todo:
        place, depth = todo.pop()
        now, then = at.pop(place, (None, None))
        if now is None:
            continue
        arg = now.arg if now.opcode >= dis.HAVE_ARGUMENT else None
        if now.opcode in (*dis.hasjrel, *dis.hasjabs):
            todo.append((now.argval, depth + dis.stack_effect(now.opcode, arg, jump=True)))
        depth += dis.stack_effect(now.opcode, arg, jump=False)
        if then is not None and now.opname.startswith("CALL"):  # a frame waits at it, or at its cache
            found |= dict.fromkeys(range(place, then.offset, 2), depth - 1)
        if then is not None and now.opname not in LAST:
            todo.append((then.offset, depth))
    return found


@cache
def _call(code: types.CodeType, place: int) -> list[str]:
    """Return the name with which a call begins, and the attributes behind it. Raises an error for a call of another kind."""
    line, end, first, last = list(code.co_positions())[place // 2]
    lines = [getline(code.co_filename, one).encode() for one in range(line or 0, (end or 0) + 1)]
    lines[-1] = lines[-1][:last]
    lines[0] = lines[0][first:]
    called: Any = ast.parse(b"(%s)" % b"".join(lines), mode="eval").body
    what, names = called.func, list[str]()
    while isinstance(what, ast.Attribute):
        names.insert(0, what.attr)
        what = what.value
    return [ast.unparse(what), *names]


def _called(frame: types.FrameType) -> Any:
    """Return the code that is called where a frame of the stage waits. Raises an error if that cannot be told."""
    first, *names = _call(frame.f_code, frame.f_lasti)
    known: Any = ChainMap(frame.f_locals, frame.f_globals, frame.f_builtins)
    if first == "super()":
        kinds = type(known[frame.f_code.co_varnames[0]]).__mro__
        behind = kinds[kinds.index(known["__class__"]) + 1 :]
        thing = next(vars(one)[names[0]] for one in behind if names[0] in vars(one))
        names = names[1:]
    else:
        thing = known[first]
    for one in names:
        thing = inspect.getattr_static(thing, one)
    thing = inspect.getattr_static(thing, "__init__") if isinstance(thing, type) else getattr(thing, "__func__", thing)
    return (thing if isinstance(thing, types.FunctionType) else type(thing).__call__).__code__


class _Values(pickle.Pickler):
    """Writes things as values."""

    def __init__(self, memory: io.BytesIO, modules: Any) -> None:
        super().__init__(memory, protocol=5)
        self.modules, self.are_own = modules, modules.sources.are_of

    def reducer_override(self, thing: Any) -> Any:
        """Return how a thing is written. Raises an error for what has no value."""
        kind = type(thing)
        if kind in PARTS:
            return str, (kind.__name__,), PARTS[kind](thing)
        if isinstance(thing, ModuleType):
            if self.modules.own.get(thing.__name__, sys.modules.get(thing.__name__)) is not thing:
                raise pickle.PicklingError
            return str, (thing.__name__,)
        if isinstance(thing, type) and self.are_own(thing.__module__):
            values = {name: value for name, value in vars(thing).items() if name != "__slotnames__"}  # pickle notes it there
            return str, ("class",), (kind, thing.__name__, thing.__qualname__, thing.__bases__, values)
        if kind.__module__.startswith(("lab.explore.", "app.")) and kind.__name__ in OF_EXPLORER:
            return str, (f"{kind.__name__} {getattr(thing, 'number', '')}",)
        if not isinstance(thing, type) and self._hides(thing, kind):
            raise pickle.PicklingError
        return NotImplemented

    def _hides(self, thing: Any, kind: type) -> bool:
        """Return whether an object has, or can have, more to it than pickle writes."""
        special = any(getattr(kind, name) is not getattr(object, name) for name in OWN_VALUE)
        if not self.are_own(kind.__module__):
            is_shared = kind.__module__ == "typing" or isinstance(thing, Enum)
            return special and (isinstance(thing, BaseException) or bool(getattr(thing, "__dict__", None) and not is_shared))
        kinds = [one for one in kind.__mro__ if one is not object]
        is_plain = all(one.__flags__ & HEAP_TYPE and HOOKS.isdisjoint(vars(one)) for one in kinds)
        return special or not is_plain or weakref.getweakrefcount(thing) > 0
