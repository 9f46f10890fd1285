"""What the code of a replica remembers: its variables, as values. Replicas that remember the same continue alike."""

from __future__ import annotations

import io
import pickle
import threading
from traceback import walk_stack
from types import FunctionType, ModuleType
from typing import Any

from lab.explore.code.modules import Modules
from lab.explore.code.replica import Replica

# the code of a lock does not read what these keep
SKIPPED = ("_thread", "app", "greenlet", "hiredis", "lab.explore.code.program", "lab.explore.code.replica", "redis", "valkey")


def remembered(replica: Replica) -> int | None:
    """Return a hash of what the code of a replica remembers, and where its threads stand; None if it keeps what has no value."""
    modules = replica.modules
    own = [one for name, one in modules.own.items() if modules.sources.are_of(name)]
    variables = [value for one in own for name, value in vars(one).items() if not name.startswith("__")]
    frames = [frame for one in replica.threads if one.at for frame, _ in walk_stack(one.at.gr_frame)]
    stands = [(one.f_code.co_name, one.f_lasti, dict(one.f_locals)) for one in frames if one.f_code.co_filename in modules.paths]
    naps = [one for one in replica.naps.items() if one[0][1] == replica.clock_ms]
    memory = io.BytesIO()
    try:
        _Values(memory, modules).dump((stands, variables, naps, replica.drawn, replica.connections))
    except Exception:  # noqa: BLE001 - a generator, for one, has no value; nor has what the code itself does not let copy
        return None
    return hash(memory.getvalue())


class _Values(pickle.Pickler):
    """Writes things as values: what differs from replica to replica only by its place in memory is the same."""

    def __init__(self, memory: io.BytesIO, modules: Modules) -> None:
        super().__init__(memory)
        self.are_own = modules.sources.are_of

    def persistent_id(self, thing: Any) -> Any:
        """Return what is written in place of a thing; None for the thing itself."""
        match thing:
            case type() | ModuleType():
                return thing.__name__
            case FunctionType():
                return thing.__qualname__, [
                    one.cell_contents for one in thing.__closure__ or () if self.are_own(thing.__module__)
                ]
            case threading.Thread():  # the name that Python gives it counts the threads of all replicas
                return [value for name, value in vars(thing).items() if not name.startswith("_")]
        kind = type(thing)
        return kind.__name__ if kind.__module__.startswith(SKIPPED) and not self.are_own(kind.__module__) else None
