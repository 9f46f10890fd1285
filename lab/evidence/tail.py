"""A file that grows, read as it does: each byte once, whole lines only."""

from __future__ import annotations

from io import FileIO
from pathlib import Path

AT_ONCE = 1 << 22  # bytes: who comes late catches up in steps


class Tail:
    """The lines of a file since the last look; the file may not be there yet, and may get another name meanwhile."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: FileIO | None = None
        self._torn = b""

    def lines(self) -> bytes:
        """All whole lines that are new, as one text; empty where there are none."""
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
        """Let go of it."""
        if self._handle is not None:
            self._handle.close()
            self._handle = None
