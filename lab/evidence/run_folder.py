"""Make, find and publish run folders. A run is one stage under one scenario.

During the run the folder is hidden (``.<name>.part``) and locked. It gets its name when it is complete. So a folder with a name
is complete, and a folder that is hidden and unlocked was left by a lab that was killed. The folder of a failed run stays hidden,
as ``.<name>.failed``, with its logs and its evidence so far. ``lab clean`` removes both.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from app.shelf.plugins import suggestion
from lab.errors import BadInput, CannotWrite, LabError, LabFailed, MissingProgram, in_short, of_the_place
from lab.evidence.run_record import SCHEMA, RunRecord, check_tables
from lab.paths import COMMAND, REPORTS, shortage, shown

RUN = "run.json"
NAME = re.compile(r"(?!\.{1,2}$)[^/\0]{1,200}")  # the name of a run becomes a path, and must not lead to another place
DISCARDED_WITHIN_S = 2.0
TRACEBACK = "failure.txt"  # the file with the traceback of the error that ended a failed run


@dataclass
class RunFolder:
    """The folder of one run. ``path`` changes once, when the run is published."""

    name: str
    path: Path
    _lock: int = field(repr=False, default=-1)

    @staticmethod
    def create(scenario: str, stage: str, reports: Path = REPORTS) -> RunFolder:
        """Make a hidden, locked folder for a run that starts now. Raises CannotWrite."""
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
        name = f"{now}Z-{scenario}-{stage}-{os.getpid()}"
        path = (reports / "runs" / f".{name}.part").resolve()
        try:
            lock = _locked_folder(path)
        except OSError as error:
            user = f" by user {os.getuid()}; in a container, that is LAB_UID and LAB_GID of .env"
            raise CannotWrite(
                f"a folder for the run cannot be made: {in_short(error)}{user if isinstance(error, PermissionError) else ''}"
            ) from None
        folder = RunFolder(name, path, lock)
        if lack := shortage(path):
            folder.discard()
            raise CannotWrite(f"{shown(reports.resolve())} has no room for a run: {lack}")
        return folder

    def publish(self) -> None:
        """Give the folder its name, once, and point ``latest`` to it. Under either name, a reader finds a complete run.

        Raises CannotWrite if the folder cannot get its name: then the run keeps its hidden one.
        """
        if self.path.name == self.name:
            return
        final = self.path.parent / self.name
        try:
            self.path.rename(final)
        except OSError as error:
            os.close(self._lock)
            raise CannotWrite(f"the run cannot get its name: {in_short(error)}. It is kept: {shown(self.path)}") from None
        self.path = final
        os.close(self._lock)
        link = final.parent / f".latest-{os.getpid()}"
        try:
            link.unlink(missing_ok=True)
            link.symlink_to(self.name)
            link.replace(final.parent / "latest")
        except OSError as error:
            raise CannotWrite(f"`latest` cannot point to the run: {in_short(error)}. The run is {shown(final)}") from None

    def fail(self) -> Path:
        """Keep the folder of a failed run under a name that lists of runs leave out. Return its new path."""
        kept = self.path.with_name(f".{self.name}.failed")
        with contextlib.suppress(OSError):  # if the disk does not take the name, the folder keeps its own
            self.path.rename(kept)
            self.path = kept
        os.close(self._lock)
        return self.path

    def discard(self) -> None:
        """Remove the folder, for at most DISCARDED_WITHIN_S: a server that is ending may write again."""
        until = time.monotonic() + DISCARDED_WITHIN_S
        while self.path.exists() and time.monotonic() < until:
            shutil.rmtree(self.path, ignore_errors=True)
            time.sleep(0.01)
        os.close(self._lock)


def _locked_folder(path: Path) -> int:
    """Make a locked folder. Return the lock, an open file descriptor. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")  # with a name that no other lab looks for until the folder is locked
    fresh.mkdir()
    lock = os.open(fresh, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    fresh.rename(path)
    return lock


@contextlib.contextmanager
def kept_on_failure(folder: RunFolder) -> Iterator[None]:
    """Keep the folder if the block raises an error, and give its path in the message. If the input is refused, remove the folder.

    Raises the error of the block, or LabFailed instead of an error that has no message for the user.
    """
    try:
        yield
    except (BadInput, MissingProgram):
        if (folder.path / "run.json").exists():
            folder.fail()
        else:  # the input was refused before anything was started
            folder.discard()
        raise
    except Exception as error:
        with contextlib.suppress(OSError):  # the disk may be full: the error is still reported
            (folder.path / TRACEBACK).write_text(traceback.format_exc(), encoding="utf-8")
        kept = f"The folder of the failed run is kept: {shown(folder.fail())} (with logs/ and {TRACEBACK})"
        if isinstance(error, LabError):
            raise type(error)(f"{error}\n{kept}") from error
        kind = CannotWrite if of_the_place(error) else LabFailed
        raise kind(f"the run failed: {described(error)}\n{kept}") from error


def described(error: Exception) -> str:
    """Return an unforeseen error as one line: its type and its message."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def take_abandoned(reports: Path = REPORTS) -> list[Path]:
    """Rename the unfinished runs of killed labs to failed runs, and remove empty ones. Return the new paths."""
    taken = []
    for path in sorted((reports / "runs").glob(".*.part")):
        with contextlib.suppress(OSError), contextlib.ExitStack() as until_taken:  # a lab has locked it, or it cannot be renamed
            lock = os.open(path, os.O_RDONLY)
            until_taken.callback(os.close, lock)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if any(file.is_file() for file in path.rglob("*")):
                taken.append(path.rename(path.with_suffix(".failed")))
            else:
                shutil.rmtree(path)
    return taken


def save(path: Path, record: Any) -> None:
    """Write a record as JSON, completely or not at all."""
    replace(path, as_json(record).encode())


def as_json(record: Any) -> str:
    """Return a record as the text of its file."""
    return json.dumps(msgspec.to_builtins(record), indent=1, ensure_ascii=False) + "\n"


def replace(path: Path, content: bytes) -> None:
    """Write a file completely or not at all: until then, a reader reads the old file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with new_file(temporary) as file:
            file.write(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def new_file(path: Path) -> BinaryIO:
    """Make a file and open it to write. An old file of that name is removed first: in a copied folder it may be a link.

    Raises OSError.
    """
    path.unlink(missing_ok=True)
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb")


def load(folder: Path) -> RunRecord:
    """Return the record of a run folder. Raises BadInput if the folder has none that this lab can read."""
    path = folder / RUN
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"{folder} is not a run: it has no run.json") from None
    except OSError as error:
        raise BadInput(f"{path} cannot be read: {error.strerror}") from None
    return decode(content, path)


def decode(content: bytes, path: Path) -> RunRecord:
    """Return the record in the content of a ``run.json``. path: the path of that file, for messages. Raises BadInput."""
    try:
        record = msgspec.json.decode(content, type=RunRecord)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    if record.schema != SCHEMA:
        raise BadInput(f"{path} has the schema {record.schema}; this lab reads schema {SCHEMA}")
    if not NAME.fullmatch(record.run):
        raise BadInput(f"{path} names the run {record.run!r}, which is not a valid name of a folder")
    try:
        check_tables(record.scenario, record.stage)
    except msgspec.ValidationError as error:
        raise BadInput(f"{path} cannot be read: {error}") from None
    return record


def find(name: str, reports: Path = REPORTS) -> Path:
    """Return a run folder by path, by name, or ``latest``. Raises BadInput, which names the nearest run."""
    for candidate in (Path(name), reports / "runs" / name):
        if (candidate / "run.json").exists():
            return candidate.resolve()
    if Path(name).is_dir():
        raise BadInput(f"{name} is not a run: it has no run.json")
    names = [path.name for path in finished(reports)]
    if name == "latest" and not names:
        raise BadInput(f"there is no run yet; make one: {COMMAND} run rush --stage lua")
    listed_by = f"ls {shown(reports / 'runs')}"
    raise BadInput(f"there is no run {name!r}. {suggestion(name, ['latest', *names], listed_by)}")


def finished(reports: Path = REPORTS) -> list[Path]:
    """Return the folders of all finished runs, newest first."""
    folders = [path.parent for path in (reports / "runs").glob("*/run.json") if not path.parent.is_symlink()]
    return sorted((path for path in folders if not path.name.startswith(".")), key=lambda path: path.name, reverse=True)


def clean(keep: int, reports: Path = REPORTS) -> list[Path]:
    """Remove all but the newest ``keep`` runs, all failed runs, and the remains of killed labs. Return the removed folders."""
    take_abandoned(reports)
    gone = [*finished(reports)[keep:], *sorted((reports / "runs").glob(".*.failed"))]
    for path in gone:
        shutil.rmtree(path)
    latest = reports / "runs" / "latest"
    if latest.is_symlink() and not latest.exists():
        latest.unlink()
    return gone
