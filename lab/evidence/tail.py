"""Read a file that grows: each byte once, and only complete lines."""

from __future__ import annotations

from io import FileIO
from pathlib import Path

AT_ONCE = 1 << 22  # bytes: a reader that comes late reads in steps


class Tail:
    """The lines of a file since the last read. The file may not exist yet, and may get another name meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: FileIO | None = None
        self._torn = b""

    def lines(self) -> bytes:
        """Return all complete lines that are new, as one text; empty without any."""
        if self._handle is None:
            try:
                self._handle = self.path.open("rb", buffering=0)
            except FileNotFoundError:
                return b""
        block = self._handle.read(AT_ONCE) or b""
        whole, newline, rest = block.rpartition(b"\n")
        if not newline:
            self._torn += block
            return b""
        fresh, self._torn = self._torn + whole + newline, rest
        return fresh

    def close(self) -> None:
        """Close the file."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None
