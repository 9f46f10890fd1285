"""Measure which parts of the judge change a verdict: ``python -m tools.worth [WORD ...]``.

Each recorded run of the corpus is judged again while one part is switched off: a field of an event has its default, an event
is not on record, or a function of ``lab/judge`` gives a neutral answer of its type (False, True, 0, None, nothing). A run
counts if it is no longer judged as expected. Words choose the parts whose names contain them.

First, the program notes for each part the runs in which its answer is not neutral; only these are judged again. The
search ends after ENOUGH changes. In the table, the parts that change nothing come first.
"""

import contextlib
import importlib
import inspect
import multiprocessing
import pkgutil
import sys
import tempfile
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec

import lab.judge
from app import journal
from lab.evidence import run_folder
from lab.evidence.fault_record import FaultRecord
from lab.evidence.history import History, KeyEvent, Request
from lab.judge.verdict import judge_again
from tests.corpus import SHELVES, Busy, Trial, busy, recorded, runs, unpack

ENOUGH = 3  # this many changes are enough
HEAD = f"{'kind':<9} {'switched off':<58} at work changes  first of them"
RECORDS = (*typing.get_args(journal.AnyEvent), FaultRecord, KeyEvent, Request)
# the neutral answers, by name
NEUTRAL: dict[str, Callable[..., Any]] = {
    "False": lambda *_, **__: False,
    "True": lambda *_, **__: True,
    "0": lambda *_, **__: 0,
    "nothing": lambda *_, **__: None,
    "no effect": lambda *_, **__: None,
    "''": lambda *_, **__: "",
    "none of them": lambda *_, **__: iter(()),
}
# the names of neutral answers, by the annotated type of a function's result
ANSWERS = {"bool": ["False", "True"], "int": ["0"], "float": ["0"], "str": ["''"], "None": ["no effect"]}


class Part(NamedTuple):
    """A part of the evidence or of the judge that can be switched off."""

    kind: str
    name: str
    # switches it off while the context is open
    off: Callable[[], contextlib.AbstractContextManager[object]]


class Row(NamedTuple):
    """The runs that a part changes. A row comes from another process; the function of a property cannot be sent."""

    part: Part
    # the number of runs in which it is at work
    at_work: int
    # the runs that are judged differently without it, at most ENOUGH
    changes: list[str]

    def line(self) -> str:
        """Return the row as a line of text."""
        number = f"{len(self.changes)}{'+' if len(self.changes) == ENOUGH else ''}"
        return f"{self.part.kind:<9} {self.part.name:<58} {self.at_work:>7} {number:>7}  {'; '.join(self.changes)}"


class Run(NamedTuple):
    """A recorded run, unpacked."""

    trial: Trial | Busy
    folder: Path
    claims: set[str]

    @property
    def holds(self) -> bool:
        """Return whether the run is judged as expected."""
        try:
            self.trial.hold(judge_again(self.folder)[0], self.claims)
        except Exception:  # noqa: BLE001 - a judge that fails has no answer
            return False
        return True


def _defaults(record: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the fields of a record that have a default."""
    fields = [field for field in msgspec.structs.fields(record) if not field.required]
    return {field.name: field.default_factory() if field.default is msgspec.NODEFAULT else field.default for field in fields}


DEFAULTS = {record: _defaults(record) for record in RECORDS}


def parts() -> Iterator[Part]:
    """Yield each kind of record, each field with a default, and each function."""
    for record, defaults in DEFAULTS.items():
        yield Part("record", record.__name__, partial(_reading, partial(_unless, record)))
        for name, default in defaults.items():
            yield Part("field", f"{record.__name__}.{name}", partial(_reading, partial(_blank, record, name, default)))
    for name, function in functions():
        for answer in neutral(function):
            yield Part("function", f"{name} = {answer}", partial(_answering, function, answer))


def _unless(record: type, item: Any) -> Any:
    """Return the item; None if it is a record of this type."""
    return None if type(item) is record else item


def _blank(record: type, name: str, default: Any, item: Any) -> Any:
    """Return the item; if it is a record of this type, the field has its default."""
    if type(item) is record:
        setattr(item, name, default)
    return item


@contextlib.contextmanager
def _reading(change: Callable[[Any], Any]) -> Iterator[None]:
    """Change each item that the judge reads; None leaves it out."""
    read = History._read  # noqa: SLF001 - all that the judge reads passes there

    def changed(self: History, name: str, decoder: Any) -> Iterator[Any]:
        return (item for item in map(change, read(self, name, decoder)) if item is not None)

    with patch.object(History, "_read", changed):
        yield


@contextlib.contextmanager
def _answering(function: FunctionType, answer: str) -> Iterator[None]:
    """Let a function give one answer, also in modules that have imported it."""
    code, function.__code__ = function.__code__, NEUTRAL[answer].__code__
    try:
        yield
    finally:
        function.__code__ = code


def functions() -> Iterator[tuple[str, FunctionType]]:
    """Yield the functions and methods of lab/judge, with their names. A function with a closure cannot be switched off."""
    for info in pkgutil.iter_modules(lab.judge.__path__, "lab.judge."):
        members = [*vars(importlib.import_module(info.name)).values()]
        classes = [value for value in members if isinstance(value, type) and value.__module__ == info.name]
        members += [member for kind in classes for member in vars(kind).values()]
        for member in members:
            function = inspect.unwrap(getattr(member, "fget", None) or getattr(member, "func", None) or member)
            is_of_it = isinstance(function, FunctionType) and function.__module__ == info.name
            if is_of_it and not function.__code__.co_freevars and not function.__name__.startswith("__"):
                yield f"{info.name.rpartition('.')[2]}.{function.__qualname__}", function


def neutral(function: FunctionType) -> list[str]:
    """Return the names of a function's neutral answers, by the annotated type of its result."""
    returns = str(function.__annotations__.get("return", ""))
    if returns.startswith(("Iterator", "Iterable", "list", "Sequence")):
        return ["none of them"]
    return ANSWERS.get(returns, ["nothing"] if "None" in returns else [])


def at_work(run: Run) -> set[str]:
    """Return the names of the parts that give an answer that is not neutral in a run."""
    answers: dict[CodeType, list[tuple[str, str]]] = {
        function.__code__: [(f"{name} = {answer}", answer) for answer in neutral(function)] for name, function in functions()
    }
    working: set[str] = set()

    def see(item: Any) -> Any:
        kind = type(item)
        working.add(kind.__name__)
        working.update(f"{kind.__name__}.{name}" for name, default in DEFAULTS[kind].items() if getattr(item, name) != default)
        return item

    def note(frame: FrameType, event: str, value: Any) -> None:
        for name, answer in answers.get(frame.f_code, ()) if event == "return" else ():
            is_neutral = not value if answer == "none of them" else value == NEUTRAL[answer]()
            if answer == "no effect" or not is_neutral:
                working.add(name)

    sys.setprofile(note)
    try:
        with _reading(see):
            judge_again(run.folder)
    finally:
        sys.setprofile(None)
    return working


# Data that the processes share: each process is a fork of the process that has filled them.
CHOSEN: list[Part] = []
CASES: list[Run] = []
WORKING: defaultdict[str, list[Run]] = defaultdict(list)  # by the name of a part: the runs in which it is at work


def _traced(number: int) -> set[str] | None:
    """Return the parts that are at work in a run; None if the run is not judged as expected even with all parts."""
    return at_work(CASES[number]) if CASES[number].holds else None


def _row(number: int) -> Row:
    """Switch a part off, and judge the runs in which it is at work until ENOUGH change."""
    part, changes = CHOSEN[number], list[str]()
    with part.off():
        for run in WORKING[part.name]:
            changes += [] if run.holds else [run.trial.name]
            if len(changes) == ENOUGH:
                break
    return Row(part._replace(off=contextlib.nullcontext), len(WORKING[part.name]), changes)


def worth(words: list[str]) -> Iterator[Row]:
    """Yield a row for each part that the words choose, or for all parts."""
    CHOSEN.extend(part for part in parts() if any(word in f"{part.kind} {part.name}" for word in words) or not words)
    forks = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as below:
        CASES.extend(_unpacked(Path(below)))
        with forks.Pool() as pool:
            for run, working in zip(CASES, pool.imap(_traced, range(len(CASES)), 4), strict=True):
                for name in working or ():
                    WORKING[name].append(run)
        with forks.Pool() as pool:  # these processes know WORKING
            yield from pool.imap_unordered(_row, range(len(CHOSEN)))


def _unpacked(below: Path) -> Iterator[Run]:
    """Yield each recorded run."""
    kept = {name: data for shelf in SHELVES for name, data in runs(shelf).items()}
    trials: list[tuple[Trial | Busy, bytes]] = [(trial, kept[trial.name]) for trial in recorded()]
    trials += [(trial, trial.run) for trial in busy()]
    for number, (trial, run) in enumerate(trials):
        folder = below / str(number)
        unpack(run, folder)
        yield Run(trial, folder, {*run_folder.load(folder).stage["claims"]})


if __name__ == "__main__":
    rows = sorted(worth(sys.argv[1:]), key=lambda row: (len(row.changes), row.part.kind, row.part.name))
    sys.stdout.write("\n".join([HEAD, *(row.line() for row in rows), ""]))
