"""A run: one stage under one scenario, as a folder of evidence.

While it is made, the folder is hidden (``.<name>.part``) and locked; it gets its name when all of it is there. So what
has a name is whole, and what is hidden and unlocked was left behind by a lab that was killed. A run that failed stays hidden,
as ``.<name>.failed``, with its logs and what evidence it has. ``lab clean`` removes both.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import msgspec

from lab.errors import BadInput, LabError, MissingProgram, RunFailed
from lab.paths import REPORTS, shown

DISCARDED_WITHIN_S = 2.0
TRACEBACK = "failure.txt"  # of the error that ended a failed run


class RunRecord(msgspec.Struct, kw_only=True):
    """``run.json``: every parameter of a run and its circumstances; enough to judge it again without the shelf.

    scenario, stage: as plain data. ended: ``complete``, or why it was cut short. start, final: the counter before and
    after (null if it could not be read); parts: the latter part by part, where it has several. in_flight_left: whether
    requests were still inside when it was read. threads: of each replica, 0 where that is not on record. commands: how
    often each command ran on each store. engine:
    where the servers were. clocks: how many machines' clocks stamped the history. drawn_at: nothing in
    here changes when it is judged or drawn again.
    """

    schema: int = 1
    run: str
    scenario: dict[str, Any]
    stage: dict[str, Any]
    command: str
    commit: str
    started_utc: str
    ended: str = "complete"
    start: int = 0
    final: int | None = None
    parts: dict[str, int] = msgspec.field(default_factory=dict)
    in_flight_left: bool = False
    engine: str = "local"
    clocks: int = 1
    threads: int = 0
    took_part: list[str] = msgspec.field(default_factory=list)
    commands: dict[str, dict[str, int]] = msgspec.field(default_factory=dict)
    client_options: dict[str, Any] = msgspec.field(default_factory=dict)
    versions: dict[str, str] = msgspec.field(default_factory=dict)
    machine: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def has_store(self) -> bool:
        return self.stage["store"] is not None


@dataclass
class RunFolder:
    """Where one run's evidence is; ``path`` changes once, when it is published."""

    name: str
    path: Path
    _lock: int = field(repr=False, default=-1)

    @staticmethod
    def create(scenario: str, stage: str, reports: Path = REPORTS) -> RunFolder:
        """A hidden, locked folder for a run that starts now. Raises BadInput where none can be made."""
        now = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")[:-3]
        name = f"{now}Z-{scenario}-{stage}-{os.getpid()}"
        path = (reports / "runs" / f".{name}.part").resolve()
        try:
            path.mkdir(parents=True)
        except PermissionError:
            raise BadInput(
                f"{reports} cannot be written to by user {os.getuid()}; in a container, that is LAB_UID and LAB_GID of .env"
            ) from None
        lock = os.open(path, os.O_RDONLY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        return RunFolder(name, path, lock)

    def publish(self) -> None:
        """Give the folder its name, once, and point ``latest`` at it. What a reader finds by either is whole."""
        if self.path.name == self.name:
            return
        final = self.path.parent / self.name
        self.path.rename(final)
        self.path = final
        link = final.parent / f".latest-{os.getpid()}"
        link.unlink(missing_ok=True)
        link.symlink_to(self.name)
        link.replace(final.parent / "latest")
        os.close(self._lock)

    def fail(self) -> Path:
        """Keep the folder of a run that failed, under a name that no list of runs has. Return where it is now."""
        kept = self.path.with_name(f".{self.name}.failed")
        self.path.rename(kept)
        self.path = kept
        os.close(self._lock)
        return kept

    def discard(self) -> None:
        """Nothing happened that is worth keeping. A server that is just ending may still write: then once more."""
        until = time.monotonic() + DISCARDED_WITHIN_S
        while self.path.exists() and time.monotonic() < until:
            shutil.rmtree(self.path, ignore_errors=True)
            time.sleep(0.01)
        os.close(self._lock)


@contextlib.contextmanager
def kept_on_failure(folder: RunFolder) -> Iterator[None]:
    """While the block runs, an error keeps the folder, and its message names the place. Refused input leaves nothing.

    Raises what the block raised, and RunFailed in place of an error that has no message for the user.
    """
    try:
        yield
    except (BadInput, MissingProgram):  # refused before anything was started
        folder.discard()
        raise
    except Exception as error:
        (folder.path / TRACEBACK).write_text(traceback.format_exc(), encoding="utf-8")
        where = f"The folder of the failed run is kept: {shown(folder.fail())} (with logs/ and {TRACEBACK})"
        if isinstance(error, LabError):
            raise type(error)(f"{error}\n{where}") from error
        raise RunFailed(f"the run failed: {described(error)}\n{where}") from error


def described(error: Exception) -> str:
    """Return an unforeseen error in one line: its type and its message."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def save(path: Path, record: Any) -> None:
    """Write a record as JSON, whole or not at all."""
    text = json.dumps(msgspec.to_builtins(record), indent=1, ensure_ascii=False) + "\n"
    replace(path, text.encode())


def replace(path: Path, content: bytes) -> None:
    """Write a file whole or not at all: whoever reads it meanwhile reads the old one."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def load(folder: Path) -> RunRecord:
    """The record of a run folder. Raises BadInput when it is none."""
    try:
        return msgspec.json.decode((folder / "run.json").read_bytes(), type=RunRecord)
    except (OSError, msgspec.MsgspecError) as error:
        raise BadInput(f"{folder} is not a finished run: {error}") from None


def find(name: str, reports: Path = REPORTS) -> Path:
    """A run folder by path, by name, or ``latest``. Raises BadInput, with the newest runs there are."""
    for candidate in (Path(name), reports / "runs" / name):
        if (candidate / "run.json").exists():
            return candidate.resolve()
    there = [path.name for path in finished(reports)]
    newest = ", ".join(there[:3]) or "none yet"
    near = get_close_matches(name, there, n=1, cutoff=0.5)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    places = f"Give a folder, a name below {reports / 'runs'}, or 'latest' (newest: {newest})"
    raise BadInput(f"there is no run {name!r}.{guess} {places}")


def finished(reports: Path = REPORTS) -> list[Path]:
    """The runs there are, newest first."""
    folders = [path.parent for path in (reports / "runs").glob("*/run.json") if not path.parent.is_symlink()]
    return sorted((path for path in folders if not path.name.startswith(".")), key=lambda path: path.name, reverse=True)


def clean(keep: int, reports: Path = REPORTS) -> list[Path]:
    """Remove all but the newest ``keep`` runs, all failed runs, and what killed labs left half done. Return what was removed."""
    failed = sorted((reports / "runs").glob(".*.failed"))
    gone = [*finished(reports)[keep:], *failed, *_abandoned(reports)]
    for path in gone:
        shutil.rmtree(path)
    latest = reports / "runs" / "latest"
    if latest.is_symlink() and not latest.exists():
        latest.unlink()
    return gone


def _abandoned(reports: Path) -> Iterator[Path]:
    for path in sorted((reports / "runs").glob(".*.part")):
        lock = os.open(path, os.O_RDONLY)
        try:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                yield path
        finally:
            os.close(lock)
