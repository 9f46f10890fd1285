"""What the judge's evidence, rules and excuses are worth: ``python -m tools.worth [--by-hand] [WORD ...]``.

Each recorded run of the corpus is judged again while one thing is switched off: a field of an event has its default, an event
is not on record, or a function of ``lab/judge`` gives the neutral answer of its type (False and True, 0, None, nothing). A run
counts if it is no longer judged as expected. With ``--by-hand``, each thing is also switched off under the tests of the judge
whose histories are made by hand. Words choose the things whose names contain them.

A first pass notes for each thing in which runs it gives another answer than the neutral one; only those are judged again. The
search ends after ENOUGH changes. Each row goes to the error output as soon as it is known; the table at the end has the things
first that nothing needs.
"""

import contextlib
import importlib
import inspect
import io
import multiprocessing
import pkgutil
import re
import sys
import tempfile
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec
import pytest

import lab.judge
from app import journal
from lab.evidence import run_folder
from lab.evidence.fault_record import FaultRecord
from lab.evidence.history import History, KeyEvent, Request
from lab.judge import run_facts
from lab.judge.verdict import judge_again
from lab.paths import HOME
from tests.corpus import SHELVES, Busy, Trial, busy, recorded, runs, unpack

ENOUGH = 3  # of changes, and of failed tests
HEAD = f"{'kind':<9} {'switched off':<58} at work changes by hand  first of them"
FAILED = re.compile(r"^(?:FAILED|ERROR) \S+/(.+?)(?: - .*)?$", re.MULTILINE)
BY_HAND = str(HOME / "tests" / "unit" / "judge")
RECORDS = (*typing.get_args(journal.AnyEvent), FaultRecord, KeyEvent, Request)
KEY_EVENTS = ("set", "del", "expire", "expired", "hset", "hdel", "incrby", "lpush", "rpush", "lpop", "rename_from", "rename_to")
# what a function answers that is switched off, by the name of the answer
NEUTRAL: dict[str, Callable[..., Any]] = {
    "False": lambda *_, **__: False,
    "True": lambda *_, **__: True,
    "0": lambda *_, **__: 0,
    "nothing": lambda *_, **__: None,
    "no effect": lambda *_, **__: None,
    "''": lambda *_, **__: "",
    "none of them": lambda *_, **__: iter(()),
}
# the names of the answers, by what a function says that it returns
ANSWERS = {"bool": ["False", "True"], "int": ["0"], "float": ["0"], "str": ["''"], "None": ["no effect"]}


class Thing(NamedTuple):
    """Something that can be switched off."""

    kind: str
    name: str
    # switches it off while the context is open
    off: Callable[[], contextlib.AbstractContextManager[object]]


class Row(NamedTuple):
    """How much a thing is worth. It comes from another process, to which a property's function cannot be sent."""

    thing: Thing
    # the number of runs in which it is at work
    at_work: int
    # the runs that are judged otherwise without it, at most ENOUGH
    changes: list[str]
    # tests of histories made by hand that fail without it, at most ENOUGH; None without --by-hand
    by_hand: list[str] | None

    def line(self) -> str:
        """Return the row as a line of text."""
        number = f"{len(self.changes)}{'+' if len(self.changes) == ENOUGH else ''}"
        by_hand = "" if self.by_hand is None else f"{len(self.by_hand)}{'+' if len(self.by_hand) == ENOUGH else ''}"
        names = "; ".join([*self.changes, *(self.by_hand or ())[:1]])
        return f"{self.thing.kind:<9} {self.thing.name:<58} {self.at_work:>7} {number:>7} {by_hand:>7}  {names}"


class Run(NamedTuple):
    """A recorded run, unpacked."""

    trial: Trial | Busy
    folder: Path
    claims: set[str]
    # in bytes, packed
    size: int

    @property
    def holds(self) -> bool:
        """Return whether the judge finds in it what is expected."""
        try:
            self.trial.hold(judge_again(self.folder)[0], self.claims)
        except Exception:  # noqa: BLE001 - a judge that fails has no answer
            return False
        return True


def _defaults(record: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the fields of a record that have a default."""
    found = [field for field in msgspec.structs.fields(record) if not field.required]
    return {one.name: one.default_factory() if one.default is msgspec.NODEFAULT else one.default for one in found}


DEFAULTS = {record: _defaults(record) for record in RECORDS}


def things() -> Iterator[Thing]:
    """Yield each kind of record, each field with a default, each kind of key event, each figure of a run, and each function."""
    for record, defaults in DEFAULTS.items():
        yield Thing("record", record.__name__, partial(_reading, partial(_unless, record, {})))
        for name, default in defaults.items():
            yield Thing("field", f"{record.__name__}.{name}", partial(_reading, partial(_blank, record, name, default)))
    for event in KEY_EVENTS:
        yield Thing("event", event, partial(_reading, partial(_unless, KeyEvent, {"event": event})))
    for field in run_facts.RunFacts.__dataclass_fields__.values():
        if field.name not in {"has_store", "final"}:
            yield Thing("figure", f"RunFacts.{field.name}", partial(_fixed, field.name, field.default))
    for name, function in functions():
        for answer in neutral(function):
            yield Thing("function", f"{name} = {answer}", partial(_answering, function, answer))


def _unless(record: type, fields: dict[str, Any], item: Any) -> Any:
    """Return the item; None if it is such a record, with these fields."""
    return None if type(item) is record and all(getattr(item, name) == value for name, value in fields.items()) else item


def _blank(record: type, name: str, default: Any, item: Any) -> Any:
    """Return the item; if it is such a record, with the default of a field."""
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
def _fixed(name: str, value: Any) -> Iterator[None]:
    """Let each run have this figure."""
    of = run_facts.of
    with patch.object(run_facts, "of", lambda *given: replace(of(*given), **{name: value})):
        yield


@contextlib.contextmanager
def _answering(function: FunctionType, answer: str) -> Iterator[None]:
    """Let a function give one answer, wherever it was imported."""
    code, function.__code__ = function.__code__, NEUTRAL[answer].__code__
    try:
        yield
    finally:
        function.__code__ = code


def functions() -> Iterator[tuple[str, FunctionType]]:
    """Yield the functions and methods of lab/judge, with their names. One with a closure cannot be switched off."""
    for info in pkgutil.iter_modules(lab.judge.__path__, "lab.judge."):
        found = [*vars(importlib.import_module(info.name)).values()]
        found += [one for kind in found if isinstance(kind, type) and kind.__module__ == info.name for one in vars(kind).values()]
        for one in found:
            function = inspect.unwrap(getattr(one, "fget", None) or getattr(one, "func", None) or one)
            is_of_it = isinstance(function, FunctionType) and function.__module__ == info.name
            if is_of_it and not function.__code__.co_freevars and not function.__name__.startswith("__"):
                yield f"{info.name.rpartition('.')[2]}.{function.__qualname__}", function


def neutral(function: FunctionType) -> list[str]:
    """Return the names of a function's neutral answers, by what it says that it returns."""
    returns = str(function.__annotations__.get("return", ""))
    if returns.startswith(("Iterator", "Iterable", "list", "Sequence")):
        return ["none of them"]
    return ANSWERS.get(returns, ["nothing"] if "None" in returns else [])


def at_work(run: Run) -> set[str]:
    """Return the names of the things that give another answer than the neutral one in a run."""
    answers: dict[CodeType, list[tuple[str, str]]] = {
        function.__code__: [(f"{name} = {answer}", answer) for answer in neutral(function)] for name, function in functions()
    }
    found: set[str] = set()

    def see(item: Any) -> Any:
        kind = type(item)
        found.add(kind.__name__)
        found.update(f"{kind.__name__}.{name}" for name, default in DEFAULTS[kind].items() if getattr(item, name) != default)
        return item

    def note(frame: FrameType, event: str, value: Any) -> None:
        for name, answer in answers.get(frame.f_code, ()) if event == "return" else ():
            is_neutral = not value if answer == "none of them" else value == NEUTRAL[answer]()
            if answer == "no effect" or not is_neutral:
                found.add(name)

    sys.setprofile(note)
    try:
        with _reading(see):
            judge_again(run.folder)
    finally:
        sys.setprofile(None)
    return found


def by_hand(thing: Thing) -> list[str]:
    """Return the first tests with histories made by hand that fail without a thing."""
    words = f"-q -p no:cacheprovider --maxfail={ENOUGH} --ignore {BY_HAND}/test_recordings.py --rootdir {HOME} {BY_HAND}"
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()), thing.off():
        pytest.main(words.split())
    return FAILED.findall(said.getvalue())


# What the processes share: each is a fork of the one that has filled these.
CHOSEN: list[Thing] = []
CASES: list[Run] = []
HOLDING: list[Run] = []  # the runs that are judged as expected while everything is at work
WORKING: defaultdict[str, list[Run]] = defaultdict(list)  # by the name of a thing: the runs in which it is at work


def _traced(number: int) -> set[str] | None:
    """Return what is at work in a run; None if it is not judged as expected, although everything is at work."""
    return at_work(CASES[number]) if CASES[number].holds else None


def _row(number: int, is_by_hand: bool) -> Row:
    """Switch a thing off, and judge the runs in which it is at work until ENOUGH change."""
    thing, changes = CHOSEN[number], list[str]()
    affected = HOLDING if thing.kind in {"event", "figure"} else WORKING[thing.name]
    with thing.off():
        for run in affected:
            changes += [] if run.holds else [run.trial.name]
            if len(changes) == ENOUGH:
                break
    return Row(thing._replace(off=contextlib.nullcontext), len(affected), changes, by_hand(thing) if is_by_hand else None)


def worth(words: list[str]) -> Iterator[Row]:
    """Yield a row for each thing that the words choose, or for all, as soon as it is known."""
    is_by_hand = "--by-hand" in words
    words = [word for word in words if not word.startswith("--")]
    CHOSEN.extend(one for one in things() if any(word in f"{one.kind} {one.name}" for word in words) or not words)
    forks = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as below:
        CASES.extend(sorted(_unpacked(Path(below)), key=lambda run: run.size))  # so that the first changes are soon found
        with forks.Pool() as pool:
            for run, found in zip(CASES, pool.imap(_traced, range(len(CASES)), 4), strict=True):
                for name in found or ():
                    WORKING[name].append(run)
                HOLDING.extend([run] * (found is not None))
        with forks.Pool(maxtasksperchild=1) as pool:  # tests leave traces in a process
            yield from pool.imap_unordered(partial(_row, is_by_hand=is_by_hand), range(len(CHOSEN)))


def _unpacked(below: Path) -> Iterator[Run]:
    """Yield each recorded run."""
    kept = {name: data for shelf in SHELVES for name, data in runs(shelf).items()}
    trials: list[tuple[Trial | Busy, bytes]] = [
        *((one, kept[one.name]) for one in recorded()),
        *((one, one.run) for one in busy()),
    ]
    for number, (trial, run) in enumerate(trials):
        folder = below / str(number)
        unpack(run, folder)
        yield Run(trial, folder, {*run_folder.load(folder).stage["claims"]}, len(run))


if __name__ == "__main__":
    rows: list[Row] = []
    for row in worth(sys.argv[1:]):
        rows.append(row)
        sys.stderr.write(f"{row.line()}\n")
    rows.sort(key=lambda row: (len(row.changes), len(row.by_hand or ()), row.thing.kind, row.thing.name))
    sys.stdout.write("\n".join([HEAD, *(row.line() for row in rows), ""]))
