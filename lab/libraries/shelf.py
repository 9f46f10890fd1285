"""The shelf ``libraries/``: a file for each published lock, with its record and its stage."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any, NamedTuple

from app.foreign.library import ALL, LIBRARIES, Library
from app.lock import Stage
from lab.errors import BadInput, choose_from
from lab.scenario import reader


class LibraryLock(NamedTuple):
    """One file of the shelf."""

    # the name of the file without ``.py``
    name: str
    path: Path
    library: Library
    # as the file has it; ``find_stage`` of the path gives the one that can run
    stage: Stage


def names(folder: Path = LIBRARIES) -> list[str]:
    """Return the names of all files of a shelf; none if the lab is installed without it."""
    return sorted(path.stem for path in folder.glob("*.py"))


def read(kind: str, name: str, folder: Path = LIBRARIES) -> tuple[Path, dict[str, Any]]:
    """Return a file of a shelf and its definition; its library need not be installed. Raises BadInput for an unknown name."""
    path = folder / f"{choose_from(kind, name, names(folder))}.py"
    return path, runpy.run_path(str(path))


def load(name: str) -> LibraryLock:
    """Read one file. Raises BadInput for an unknown name and for a file without records."""
    path, record = read("library", name)
    library, stage = record.get("LIBRARY"), record.get("STAGE")
    if not isinstance(library, Library) or not isinstance(stage, Stage):
        raise BadInput(f"{path} has no LIBRARY = Library(…) and STAGE = LIBRARY.stage(…)")
    return LibraryLock(name, path, library, stage)


def scenarios_of(lock: LibraryLock) -> list[str]:
    """Return the scenarios of a library: the ones for all libraries, the ones that test its promises, and the ones that it names.

    A claim that is tested for all libraries gets no further scenario: the whole shelf must be measured within an hour.
    """
    tests = {name: reader.load(name).tests for name in reader.names()}
    has = {tests[name] for name in ALL}
    promised = [name for name in tests if tests[name] in lock.stage.claims - has]
    return list(dict.fromkeys([*ALL, *promised, *lock.library.scenarios]))
