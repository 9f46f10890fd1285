"""Read files that a stranger may have made: regular files only, through no link, and no more bytes than a limit."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

LARGEST_FILE = 4 << 30  # bytes of a file of evidence: some twenty million requests
LARGEST_RECORD = 64 << 20  # bytes of a file that is decoded as a whole, such as run.json


def open_regular(path: Path, largest: int = LARGEST_FILE) -> BinaryIO:
    """Open a file to read it. Raises OSError for a link, a pipe, a device, a folder, and a file that is too large.

    Opening never waits: a pipe that nobody writes to would stop the lab for ever.
    """
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link", str(path)) from None
        raise
    about = os.fstat(handle)
    if not stat.S_ISREG(about.st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    if about.st_size > largest:
        os.close(handle)
        raise OSError(errno.E2BIG, f"it has {about.st_size} bytes, and the lab reads at most {largest}", str(path))
    return os.fdopen(handle, "rb")


def read_record(path: Path) -> bytes:
    """Return the bytes of a file that is decoded as a whole. Raises OSError."""
    with open_regular(path, LARGEST_RECORD) as file:
        return file.read(LARGEST_RECORD)


def decoded(content: bytes | str, kind: Any = Any) -> Any:
    """Return JSON as a record of this type. Raises msgspec.DecodeError for every text that is none, however deep it is."""
    try:
        return msgspec.json.decode(content, type=kind)
    except (UnicodeDecodeError, RecursionError) as error:
        raise msgspec.DecodeError(str(error)) from None
