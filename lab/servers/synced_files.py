"""Find which bytes of a server's files are only in the kernel's page cache, and not on the disk: a power loss takes these.

A killed process loses nothing that it has written: the kernel keeps it, and writes it to the disk later. Only a loss of power
distinguishes a server that syncs each change from a server that does not. No machine has to lose its power for that: the kernel
reports which pages of a file are not on the disk yet (``cachestat``, Linux 6.5). A file that only grows is on the disk up to
the length that it had when it was last seen without an unsynced page.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

from lab.errors import MissingProgram
from lab.prerequisites import UNSYNCED_PAGES, how_to_install
from lab.servers.process import Running

CACHESTAT = 451  # the number of the system call, on every kind of processor
LOOK_EVERY_S = 0.001  # a file that is synced once a second is without unsynced pages until its next change
PLACES = (".", "appendonlydir")  # the files to which Redis appends, before version 7 and since
ENDING = ".aof"


class Range(ctypes.Structure):
    """``struct cachestat_range``: a length of 0 is the whole file."""

    _fields_: ClassVar = [("off", ctypes.c_uint64), ("len", ctypes.c_uint64)]


class Pages(ctypes.Structure):
    """``struct cachestat``: the pages of a file in the page cache, by their state."""

    _fields_: ClassVar = [(name, ctypes.c_uint64) for name in ("cached", "dirty", "writeback", "evicted", "recently_evicted")]


def unsynced_pages(file: int) -> int:
    """Return how many pages of an open file are not on the disk. Raises OSError if the kernel does not report it."""
    pages = Pages()
    if ctypes.CDLL(None, use_errno=True).syscall(CACHESTAT, file, ctypes.byref(Range(0, 0)), ctypes.byref(pages), 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(pages.dirty + pages.writeback)


def can_see(folder: Path) -> bool:
    """Return whether the kernel reports unsynced pages for files in this folder: it is tried with a file."""
    with tempfile.TemporaryFile(dir=folder) as file, contextlib.suppress(OSError):
        file.write(b"written, and not synced")
        file.flush()
        before = unsynced_pages(file.fileno())
        os.fsync(file.fileno())
        return before > 0 and not unsynced_pages(file.fileno())
    return False


def need_sight(folder: Path) -> None:
    """Raise MissingProgram if a loss of power cannot be imitated in this folder."""
    if not can_see(folder):
        raise MissingProgram(f"{UNSYNCED_PAGES} cannot be asked about {folder}. {how_to_install(UNSYNCED_PAGES)}")


class SyncedFiles:
    """Watch the files of one server, and cut away the bytes that are not on the disk, on request."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # by file, the length up to which it is known to be on the disk
        self.lengths: dict[Path, int] = {}
        self._one_look = threading.Lock()

    def look(self) -> None:
        """Note the length of each file that has no unsynced page now."""
        with self._one_look:
            for path in self._files():
                with path.open("rb") as file:
                    length = os.fstat(file.fileno()).st_size
                    if not unsynced_pages(file.fileno()) and os.fstat(file.fileno()).st_size == length:
                        self.lengths[path] = length

    def lose_unsynced(self) -> None:
        """Cut each file to its bytes on the disk. The server must not run."""
        self.look()
        for path in self._files():
            with path.open("rb+") as file:
                file.truncate(min(self.lengths.get(path, 0), path.stat().st_size))
                os.fsync(file.fileno())  # the remaining bytes were on the disk

    def _files(self) -> list[Path]:
        found = []
        for place in PLACES:
            with contextlib.suppress(FileNotFoundError), os.scandir(self.folder / place) as entries:
                found += [Path(entry.path) for entry in entries if entry.name.endswith(ENDING)]
        return found


@contextlib.contextmanager
def watched(servers: Sequence[Running]) -> Iterator[dict[str, SyncedFiles]]:
    """Watch the files of servers while the block runs. Yields the files by the server's name. Raises MissingProgram."""
    found = {server.name: SyncedFiles(server.log.parent) for server in servers}
    for files in found.values():
        need_sight(files.folder)
    over = threading.Event()

    def watch() -> None:
        while not over.wait(LOOK_EVERY_S):
            for files in found.values():
                with contextlib.suppress(OSError):  # the server may replace a file meanwhile
                    files.look()

    watcher = threading.Thread(target=watch, name="synced files", daemon=True)
    watcher.start()
    try:
        yield found
    finally:
        over.set()
        watcher.join()
