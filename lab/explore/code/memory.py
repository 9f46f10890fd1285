"""Compute a digest of everything that a replica remembers: replicas with equal digests behave alike from then on.

The next action of a thread depends on its position in the code, on all objects that it can reach, and on its next input.
``pickle`` writes position and objects as one value, identities of objects included. Two states are merged only if these values
are equal. Source: state matching (Visser and others, "Model Checking Programs"). A state is never merged in these cases:

- A value is on the stack of a frame: the iterator of a ``for``, the manager of a ``with``, an operand beside a call. The bytecode
  tells how many there are. In ``KNOWN`` files such values are constants, or parts of variables that do not change.
- A function of the interpreter is between two frames, such as ``sorted`` with its key: a line of the stage must call exactly the
  code of the next frame. Generators and variables of closures cannot be read either.
- pickle cannot write an object (a generator, a context variable, a weak reference, a ``threading.local``), or the object defines
  by itself how it is pickled.

Objects of libraries are written in full: the token in a lock of redis-py, and the order of the connections in its pool. Of the
explorer's own objects, only the parts that change are written. Of modules that all replicas share, only the names are written:
the explorer does not follow changes in these modules.
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
# files whose stacks hold nothing that changes; of the files of the lab, the calls of the stage are known as well
OF_LAB = {str(APP / "increment.py"), *map(str, (APP / "resources").glob("*.py"))}
OF_LAB |= {str(HERE / f"{name}.py") for name in ("program", "replica", "sockets", "wire")}
KNOWN = OF_LAB | {str(HERE / "stand_ins.py"), threading.__file__}
CHECKED = (f"{APP}/", f"{Path(redis.__file__).parent}/")  # other files may have state that cannot be read
OWN_FRAME = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
LAST = ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE", "JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
OF_FUNCTION = "__code__ __defaults__ __kwdefaults__ __closure__ __dict__ __doc__ __module__ __name__ __qualname__"
REPORTS = ("_stderr", "_invoke_excepthook")  # by which a thread reports an error
OF_EXPLORER = ("Replica", "Thread", "Program", "Drawing", "Modules", "RequestContext", "Journal")
HEAP_TYPE = 1 << 9
OWN_VALUE = ("__reduce__", "__reduce_ex__", "__getstate__")
HOOKS = {"__getattribute__", "__getnewargs__", "__getnewargs_ex__", "__del__"}
_kept: dict[int, types.CodeType] = {}  # keeps the code alive, so that no other code gets its address


# by type: the parts that make up the value of an object
PARTS: dict[type, Callable[[Any], Any]] = {
    types.FunctionType: attrgetter(*OF_FUNCTION.split()),
    types.BuiltinFunctionType: lambda call: (call.__module__, call.__name__, type(call.__self__) is ModuleType or call.__self__),
    types.CodeType: lambda code: id(_kept.setdefault(id(code), code)),
    types.MethodType: attrgetter("__func__", "__self__"),
    types.CellType: attrgetter("cell_contents"),
    types.MappingProxyType: dict,
    property: attrgetter("fget", "fset", "fdel", "__doc__"),
    **dict.fromkeys((types.GetSetDescriptorType, types.MemberDescriptorType), attrgetter("__name__")),
    **dict.fromkeys((staticmethod, classmethod), attrgetter("__func__", "__dict__")),
    threading.Thread: lambda thread: {name: value for name, value in vars(thread).items() if name not in REPORTS},
    ReplicaMutex: attrgetter("_is_held", "_outside"),
    Socket: wires.get,
    # locks that were made outside of all replicas: their text says whether they are taken
    **dict.fromkeys((_thread.LockType, _thread.RLock), lambda lock: repr(lock).partition(" at ")[0]),
}


def remembered(replica: Replica) -> bytes | None:
    """Return a digest of a replica's memory; None if a part of the memory cannot be read."""
    modules, memory = replica.modules, io.BytesIO()
    waits = [
        (thread.own, thread.request, thread.pending, thread.ready, thread.sent, thread.recent, thread.draws, thread.thread)
        for thread in replica.threads
    ]
    fields = replica.inside, replica.asking_again, replica.closed, replica.connections, replica.token_counts, replica.naps
    try:
        frames = [_frames(thread, modules.paths) for thread in replica.threads]
        own = [(name, vars(module)) for name, module in modules.own.items()]
        _Values(memory, modules).dump((frames, waits, fields, own, modules.addresses))
    except Exception:  # noqa: BLE001 - objects of any library can fail in their own way
        return None
    return blake2b(memory.getvalue(), digest_size=32).digest()


def _frames(thread: Thread, paths: set[str]) -> list[Any]:
    """Return the position of a thread in each of its frames, with its variables. Raises an error if a part cannot be read."""
    if thread.deliver or thread.loop or thread.at is not thread.greenlet:
        raise pickle.PicklingError
    frames: list[Any] = [(variable.name, value) for variable, value in (thread.greenlet.gr_context or {}).items()]
    frame, inner = thread.greenlet.gr_frame, None
    while frame is not None:
        code, file = frame.f_code, frame.f_code.co_filename
        is_own = file in paths
        if file not in KNOWN and (not (is_own or file.startswith(CHECKED)) or _stack_depths(code)[frame.f_lasti]):
            raise pickle.PicklingError
        meets_stage = is_own or (inner is not None and inner.co_filename in paths)
        if meets_stage and file not in OF_LAB and _called_code(frame) is not inner:
            raise pickle.PicklingError
        if is_own and (code.co_flags & OWN_FRAME or {*code.co_cellvars, *code.co_freevars} - {"__class__"}):
            raise pickle.PicklingError
        frames.append((code, frame.f_lasti, dict(frame.f_locals)))
        frame, inner = frame.f_back, code
    return frames


@cache
def _stack_depths(code: types.CodeType) -> dict[int, int]:
    """Return by the offset of each call how many values are on the stack during it; without calls in error handlers."""
    depths: dict[int, int] = {}
    instructions = list(dis.get_instructions(code))
    pairs = {now.offset: (now, then) for now, then in zip(instructions, [*instructions[1:], None], strict=True)}
    todo = [(0, 0)]
    while todo:
        place, depth = todo.pop()
        now, then = pairs.pop(place, (None, None))
        if now is None:
            continue
        arg = now.arg if now.opcode >= dis.HAVE_ARGUMENT else None
        if now.opcode in (*dis.hasjrel, *dis.hasjabs):
            todo.append((now.argval, depth + dis.stack_effect(now.opcode, arg, jump=True)))
        depth += dis.stack_effect(now.opcode, arg, jump=False)
        if then is not None and now.opname.startswith("CALL"):  # a frame waits at the call, or at its inline cache
            depths |= dict.fromkeys(range(place, then.offset, 2), depth - 1)
        if then is not None and now.opname not in LAST:
            todo.append((then.offset, depth))
    return depths


@cache
def _names_of_call(code: types.CodeType, place: int) -> list[str]:
    """Return the first name of a call, and the attributes after it. Raises an error for a call of another form."""
    line, end, first, last = list(code.co_positions())[place // 2]
    lines = [getline(code.co_filename, number).encode() for number in range(line or 0, (end or 0) + 1)]
    lines[-1] = lines[-1][:last]
    lines[0] = lines[0][first:]
    call: Any = ast.parse(b"(%s)" % b"".join(lines), mode="eval").body
    function, names = call.func, list[str]()
    while isinstance(function, ast.Attribute):
        names.insert(0, function.attr)
        function = function.value
    return [ast.unparse(function), *names]


def _called_code(frame: types.FrameType) -> Any:
    """Return the code that a waiting frame of the stage has called. Raises an error if that cannot be found out."""
    first, *names = _names_of_call(frame.f_code, frame.f_lasti)
    known: Any = ChainMap(frame.f_locals, frame.f_globals, frame.f_builtins)
    if first == "super()":
        kinds = type(known[frame.f_code.co_varnames[0]]).__mro__
        behind = kinds[kinds.index(known["__class__"]) + 1 :]
        obj = next(vars(base)[names[0]] for base in behind if names[0] in vars(base))
        names = names[1:]
    else:
        obj = known[first]
    for name in names:
        obj = inspect.getattr_static(obj, name)
    obj = inspect.getattr_static(obj, "__init__") if isinstance(obj, type) else getattr(obj, "__func__", obj)
    return (obj if isinstance(obj, types.FunctionType) else type(obj).__call__).__code__


class _Values(pickle.Pickler):
    """Writes objects as values."""

    def __init__(self, memory: io.BytesIO, modules: Any) -> None:
        super().__init__(memory, protocol=5)
        self.modules, self.are_own = modules, modules.sources.are_of

    def reducer_override(self, obj: Any) -> Any:
        """Return how an object is written. Raises an error if its value cannot be read."""
        kind = type(obj)
        if kind in PARTS:
            return str, (kind.__name__,), PARTS[kind](obj)
        if isinstance(obj, ModuleType):
            if self.modules.own.get(obj.__name__, sys.modules.get(obj.__name__)) is not obj:
                raise pickle.PicklingError
            return str, (obj.__name__,)
        if isinstance(obj, type) and self.are_own(obj.__module__):
            values = {name: value for name, value in vars(obj).items() if name != "__slotnames__"}  # pickle notes it there
            return str, ("class",), (kind, obj.__name__, obj.__qualname__, obj.__bases__, values)
        if kind.__module__.startswith(("lab.explore.", "app.")) and kind.__name__ in OF_EXPLORER:
            return str, (f"{kind.__name__} {getattr(obj, 'number', '')}",)
        if not isinstance(obj, type) and self._hides(obj, kind):
            raise pickle.PicklingError
        return NotImplemented

    def _hides(self, obj: Any, kind: type) -> bool:
        """Return whether an object has, or can have, state that pickle does not write."""
        special = any(getattr(kind, name) is not getattr(object, name) for name in OWN_VALUE)
        if not self.are_own(kind.__module__):
            is_shared = kind.__module__ == "typing" or isinstance(obj, Enum)
            return special and (isinstance(obj, BaseException) or bool(getattr(obj, "__dict__", None) and not is_shared))
        kinds = [base for base in kind.__mro__ if base is not object]
        is_plain = all(base.__flags__ & HEAP_TYPE and HOOKS.isdisjoint(vars(base)) for base in kinds)
        return special or not is_plain or weakref.getweakrefcount(obj) > 0
