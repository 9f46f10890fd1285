"""Import the files of a package in which every file is one variant, by the file's name; suggest names for a misspelt one."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path
from types import ModuleType
from typing import Any

MOST = 5  # names in a sentence
IMPORT_S = 30  # for the import of a user's file
SLIP = 4  # how many letters a misspelt name may lack or have too many; two letters in the wrong order count as two


def names(package: str) -> list[str]:
    """Return the names of a package's files, sorted. The package is given by its module name."""
    spec = importlib.util.find_spec(package)  # this imports no file of the package: some need a store's library
    folders = (spec and spec.submodule_search_locations) or []
    files = [file for folder in folders for file in os.listdir(folder)]  # noqa: PTH208 - quick, because it is asked often
    return sorted({file.removesuffix(".py") for file in files if file.endswith(".py")} - {"__init__"})


def file(package: str, name: str) -> ModuleType:
    """Import one file, and none of the libraries that only other files need. Raises KeyError for a name without a file."""
    if name not in names(package):
        raise KeyError(name)
    return _imported(package, name)


def _imported(package: str, name: str) -> ModuleType:
    whole = f"{package}.{name}"
    loaded = sys.modules.get(whole)
    if loaded is not None and not getattr(loaded.__spec__, "_initializing", False):  # another thread may be importing it
        return loaded
    with contextlib.redirect_stdout(sys.stderr):  # a file's own output is not part of a command's output, which may be JSON
        return importlib.import_module(whole)


def signature(function: Callable[..., Any]) -> inspect.Signature:
    """Return the signature of a function. Annotations are not evaluated: only type checkers may know their names."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format

        return inspect.signature(function, annotation_format=Format.STRING)
    return inspect.signature(function)


def files(package: str) -> dict[str, ModuleType]:
    """Import all files of a package, by name."""
    return {name: _imported(package, name) for name in names(package)}


def read(path: Path) -> ModuleType:
    """Execute a user's file, and return it as a module. Raises TimeoutError after IMPORT_S seconds.

    It compiles the file each time: Python's cache does not notice a change within the same second that keeps the file's size.
    """
    module = ModuleType(path.stem)
    module.__file__, module.__package__ = str(path), ""
    code = compile(path.read_bytes(), path, "exec", dont_inherit=True)
    with limited(IMPORT_S):
        exec(code, vars(module))  # noqa: S102 - it is the user's own file
    return module


@contextlib.contextmanager
def limited(import_s: int) -> Iterator[None]:
    """Raise TimeoutError in the block after ``import_s`` seconds. Without effect in a thread that is not the main one."""

    def end(*_: object) -> None:
        raise TimeoutError(f"the import did not end within {import_s} s")

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, import_s, 1)  # again each second: a loop that connects may catch the first error
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def suggestion(name: str, choices: Iterable[str], listed_by: str = "") -> str:
    """Return a sentence with the nearest choice to an unknown name, or else with all choices.

    listed_by: a command that lists the choices, if there is one. The sentence then has this command instead of all choices.
    """
    names = list(choices)
    nearby = get_close_matches(name, names, n=MOST, cutoff=0.2)
    likeness = SequenceMatcher(None, nearby[0], name).ratio() if nearby else 0.0
    near = nearby[0] if likeness >= 0.5 and (len(name) + len(nearby[0])) * (1 - likeness) <= SLIP else ""
    if not listed_by:
        return f"Did you mean {near!r}?" if near else f"The choices: {', '.join(names)}."
    hint = f"Did you mean {near!r}? " if near else f"The nearest: {', '.join(nearby)}. " if nearby else ""
    return f"{hint}`{listed_by}` lists all."
