"""What the judge's evidence, rules and excuses are worth: ``python -m tools.worth judge [--all] [--by-hand] [WORD ...]``.

Each recorded run of the corpus is judged again while one thing is switched off: a field of an event has its default, an event
is not on record, or a function of ``lab/judge`` gives the neutral answer of its type (False and True, 0, None, nothing). A run
counts if it is no longer judged as expected. With ``--by-hand``, each thing is also switched off under the tests of the judge
whose histories are made by hand. Words choose the things whose names contain them.

A first pass notes for each thing in which runs it gives another answer than the neutral one; only those are judged again. The
search ends after ENOUGH changes; ``--all`` searches on.
"""

import contextlib
import importlib
import inspect
import io
import multiprocessing
import pkgutil
import sys
import tempfile
import types
import typing
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
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
from tools.worth.table import SHOWN, Row

ENOUGH = 3
BY_HAND = str(HOME / "tests" / "unit" / "judge")
RECORDS = (*typing.get_args(journal.AnyEvent), FaultRecord, KeyEvent, Request)

Code = types.CodeType
Off = contextlib.AbstractContextManager[object]


class Thing(NamedTuple):
    """Something that can be switched off."""

    kind: str
    name: str
    # switches it off while the context is open
    off: Callable[[], Off]


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


def fields() -> Iterator[Thing]:
    """Yield each kind of record, each field that has a default, each kind of key event, and each figure of a run."""
    for record in RECORDS:
        yield Thing("record", record.__name__, partial(_without, partial(_leave_out, record)))
        for name, default in DEFAULTS[record].items():

            def blank(item: Any, record: type = record, name: str = name, default: Any = default) -> Any:
                if type(item) is record:
                    setattr(item, name, default)
                return item

            yield Thing("field", f"{record.__name__}.{name}", partial(_without, blank))
    for event in (
        "set",
        "del",
        "expire",
        "expired",
        "hset",
        "hdel",
        "incrby",
        "lpush",
        "rpush",
        "lpop",
        "rename_from",
        "rename_to",
    ):

        def without(item: Any, event: str = event) -> Any:
            return None if type(item) is KeyEvent and item.event == event else item

        yield Thing("event", event, partial(_without, without))
    for field in run_facts.RunFacts.__dataclass_fields__.values():
        if field.name not in {"has_store", "final"}:
            yield Thing("figure", f"RunFacts.{field.name}", partial(_fixed, field.name, field.default))


def _defaults(record: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the fields of a record that have a default."""
    found = {field.name: field for field in msgspec.structs.fields(record) if not field.required}
    return {
        name: field.default_factory() if field.default is msgspec.NODEFAULT else field.default for name, field in found.items()
    }


DEFAULTS = {record: _defaults(record) for record in RECORDS}


def _leave_out(record: type, item: Any) -> Any:
    return None if type(item) is record else item


@contextlib.contextmanager
def _without(change: Callable[[Any], Any]) -> Iterator[None]:
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


NEUTRAL: dict[str, Callable[..., Any]] = {
    "False": lambda *_, **__: False,
    "True": lambda *_, **__: True,
    "0": lambda *_, **__: 0,
    "nothing": lambda *_, **__: None,
    "''": lambda *_, **__: "",
    "none of them": lambda *_, **__: iter(()),
}


def functions() -> Iterator[tuple[str, types.FunctionType]]:
    """Yield the functions and methods of lab/judge, with their names."""
    for module in pkgutil.iter_modules(lab.judge.__path__, "lab.judge."):
        within = vars(importlib.import_module(module.name))
        for name, one in within.items():
            if getattr(one, "__module__", "") != module.name:
                continue
            members = vars(one).items() if isinstance(one, type) else [("", one)]
            for member, found in members:
                function = (
                    inspect.unwrap(getattr(found, "fget", None) or getattr(found, "func", None) or found) if found else found
                )
                if (
                    isinstance(function, types.FunctionType)
                    and function.__module__ == module.name
                    and not member.startswith("__")
                ):
                    yield f"{module.name.rpartition('.')[2]}.{name}{'.' if member else ''}{member}", function


def neutral(function: types.FunctionType) -> list[str]:
    """Return the names of a function's neutral answers, by what it says that it returns."""
    returns = str(function.__annotations__.get("return", ""))
    if returns == "bool":
        return ["False", "True"]
    if returns in {"int", "float"}:
        return ["0"]
    if returns == "str":
        return ["''"]
    if returns.startswith(("Iterator", "Iterable", "list", "Sequence")):
        return ["none of them"]
    return ["nothing"] if "None" in returns else []


@contextlib.contextmanager
def _answering(function: types.FunctionType, answer: str) -> Iterator[None]:
    """Let a function give one answer, wherever it was imported."""
    code = function.__code__
    if code.co_freevars:
        raise TypeError(f"{function.__qualname__} has a closure")
    function.__code__ = NEUTRAL[answer].__code__
    try:
        yield
    finally:
        function.__code__ = code


def _is_neutral(answer: str, value: Any, code: Code) -> bool:
    """Return whether what a function returned, or yielded, is the neutral answer."""
    if answer == "nothing":
        return value is None and not _is_procedure[code]
    if answer == "none of them":
        return not value
    return bool(value == NEUTRAL[answer]())


_is_procedure: dict[Code, bool] = {}


def things() -> Iterator[Thing]:
    """Yield all that can be switched off."""
    yield from fields()
    for name, function in functions():
        for answer in neutral(function):
            if not function.__code__.co_freevars:
                yield Thing("function", f"{name} = {answer}", partial(_answering, function, answer))


def at_work(run: Run) -> set[str]:
    """Return the names of the functions that give another answer than the neutral one in a run."""
    of: dict[Code, list[tuple[str, str]]] = {}
    for name, function in functions():
        of[function.__code__] = [(f"{name} = {answer}", answer) for answer in neutral(function)]
        _is_procedure[function.__code__] = function.__annotations__.get("return") == "None"
    found: set[str] = set()

    def see(item: Any) -> Any:
        kind = type(item)
        found.add(kind.__name__)
        found.update(f"{kind.__name__}.{name}" for name, default in DEFAULTS[kind].items() if getattr(item, name) != default)
        return item

    def note(frame: types.FrameType, event: str, value: Any) -> None:
        if event == "return":
            for name, answer in of.get(frame.f_code, ()):
                if not _is_neutral(answer, value, frame.f_code):
                    found.add(name)

    sys.setprofile(note)
    try:
        with _without(see):
            judge_again(run.folder)
    finally:
        sys.setprofile(None)
    return found


def by_hand(thing: Thing) -> list[str]:
    """Return the first tests with histories made by hand that fail without a thing."""

    class Failures:
        names: typing.ClassVar[list[str]] = []

        def pytest_runtest_logreport(self, report: Any) -> None:
            if report.failed:
                self.names.append(report.nodeid.rpartition("/")[2])

    words = [
        "-q",
        f"--maxfail={SHOWN}",
        "-p",
        "no:cacheprovider",
        "--deselect",
        f"{BY_HAND}/test_recordings.py",
        "--rootdir",
        str(HOME),
        BY_HAND,
    ]
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()), thing.off():
        pytest.main(words, plugins=[Failures()])
    return Failures.names


# What the processes share: each is a fork of the one that has filled these.
CHOSEN: list[Thing] = []
CASES: list[Run] = []
HOLDING: list[Run] = []  # the runs that are judged as expected while everything is at work
WORKING: defaultdict[str, list[Run]] = defaultdict(list)  # by the name of a thing: the runs in which it is at work


def _traced(number: int) -> set[str] | None:
    """Return what is at work in a run; None if it is not judged as expected, although everything is at work."""
    return at_work(CASES[number]) if CASES[number].holds else None


def _row(number: int, limit: int, is_by_hand: bool) -> Row:
    """Switch a thing off, and judge the runs in which it is at work until so many change."""
    thing, changes = CHOSEN[number], []
    affected = HOLDING if thing.kind in {"event", "figure"} else WORKING[thing.name]
    with thing.off():
        for run in affected:
            if not run.holds:
                changes.append(run.trial.name)
                if len(changes) == limit:
                    break
    return Row(thing.kind, thing.name, len(affected), changes, len(changes) == limit, by_hand(thing) if is_by_hand else None)


def main(words: list[str]) -> Iterator[Row]:
    """Yield a row for each thing that the words choose, or for all, as soon as it is known."""
    limit, is_by_hand = sys.maxsize if "--all" in words else ENOUGH, "--by-hand" in words
    words = [word for word in words if not word.startswith("--")]
    CHOSEN.extend(one for one in things() if any(word in f"{one.kind} {one.name}" for word in words) or not words)
    forks = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as below:
        CASES.extend(_unpacked(Path(below)))
        CASES.sort(key=lambda run: run.size)  # so that the first changes are soon found
        with forks.Pool() as pool:
            for run, found in zip(CASES, pool.imap(_traced, range(len(CASES)), 4), strict=True):
                for name in found or ():
                    WORKING[name].append(run)
                HOLDING.extend([run] * (found is not None))
        with forks.Pool(maxtasksperchild=1) as pool:  # tests leave traces in a process
            yield from pool.imap_unordered(partial(_row, limit=limit, is_by_hand=is_by_hand), range(len(CHOSEN)))


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
