"""A file to which whole lines are appended."""

from __future__ import annotations

import errno
import os
from pathlib import Path


class LineFile:
    """A file to which lines are appended, each by one ``write``. After a line that could not be written it takes no more."""

    def __init__(self, path: Path) -> None:
        self.failure: OSError | None = None  # why a line could not be written
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def append(self, line: bytes) -> None:
        """Append a line. Raises OSError; after the first one always."""
        if self.failure is not None:
            raise self.failure
        try:
            written = os.write(self._file, line)
            if written == len(line):
                return
            os.write(self._file, line[written:])  # to learn the reason
            number = errno.ENOSPC
        except OSError as error:
            number = error.errno or errno.EIO
        self.failure = OSError(number, os.strerror(number), str(self._path))
        raise self.failure

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)
