"""Define the errors of the lab's commands, and the exit status of each. Standard library only, for the set-up."""

from __future__ import annotations

import errno
from collections.abc import Iterable
from enum import IntEnum

from app.shelf.plugins import suggestion


class ExitStatus(IntEnum):
    """The exit statuses of every command, defined here and nowhere else. In the order of ``worst``, the worst last."""

    GOOD = 0  # promises were kept, or the broken claim was never promised
    OUTPUT_CLOSED = 141  # the reader of the output has ended, as in `lab … | head -1`: 128 + SIGPIPE, as shells count
    CANNOT_RUN = 4  # a program is missing, or a server does not start or does not stay up
    NOTHING_SHOWN = 3  # the run or the measurement proves nothing
    CANNOT_WRITE = 5  # the disk is full, a folder is read-only, or a file is in a folder's place
    LAB_FAILED = 6  # an error that the lab did not foresee
    BROKEN = 1  # a promise was broken
    BAD_INPUT = 2  # the command line, a file or a setting is wrong
    INTERRUPTED = 130  # Ctrl-C, SIGTERM or a closed terminal: 128 + SIGINT, as shells count


MEANINGS = {
    ExitStatus.GOOD: "KEPT or ADMITTED: no claim was broken",
    ExitStatus.BROKEN: "BROKEN: a stage broke its claim",
    ExitStatus.BAD_INPUT: "the input is wrong",
    ExitStatus.NOTHING_SHOWN: "UNSEEN or VOID: the run decides nothing about the claim",
    ExitStatus.CANNOT_RUN: "a program is missing, or a server failed",
    ExitStatus.CANNOT_WRITE: "a file or the output cannot be written",
    ExitStatus.LAB_FAILED: "the lab itself failed",
    ExitStatus.INTERRUPTED: "interrupted, or the supervisor was killed",
    ExitStatus.OUTPUT_CLOSED: "the output was closed early; a run is complete",
}
# An OSError with one of these numbers is a fault of the place, such as a full disk, and not of the lab.
OF_THE_PLACE = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM, errno.EIO),
    *(errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG),
}
# The command that lists all things of a kind: an error names this command instead of a long list.
LISTED_BY = {
    "experiment": "lab experiment",
    "known failure": "lab libraries failures",
    "library": "lab libraries",
    "scenario": "lab list scenarios",
    "stage": "lab list stages",
}


def worst(statuses: Iterable[int]) -> ExitStatus:
    """Return the worst exit status of many runs; good if there are none."""
    return max((ExitStatus(status) for status in statuses), key=list(ExitStatus).index, default=ExitStatus.GOOD)


class LabError(Exception):
    """An error with a message for the user: the command prints it, without a traceback, and ends with its exit status."""

    exit_status = ExitStatus.CANNOT_RUN


class BadInput(LabError):  # noqa: N818 - a state
    """The user's input is wrong. The message names the thing, its place, and the valid choices or the command that lists them."""

    exit_status = ExitStatus.BAD_INPUT


class MissingProgram(LabError):  # noqa: N818 - a state
    """A program that the lab needs is not installed. The message says how to install it."""


class MissingPackage(LabError):  # noqa: N818 - a state
    """A Python package that a lock needs is not installed. The message says how to get it."""


class NotReady(LabError):  # noqa: N818 - a state
    """A server did not start, or did not stay up. The message holds the end of its log."""


class CannotWrite(LabError):  # noqa: N818 - an event
    """A file cannot be written or read. The message names the file and the reason."""

    exit_status = ExitStatus.CANNOT_WRITE


class NothingShown(LabError):  # noqa: N818 - an event
    """A run ended without a verdict, or a measured command failed: its figures mean nothing. The message says why."""

    exit_status = ExitStatus.NOTHING_SHOWN


class LabFailed(LabError):  # noqa: N818 - an event
    """The lab failed for an unforeseen reason. After a failed run, the message names the folder that keeps its evidence."""

    exit_status = ExitStatus.LAB_FAILED


def of_the_place(error: BaseException) -> bool:
    """Return whether an error comes from the place of a file: no space, no permission, a file in a folder's place."""
    return isinstance(error, OSError) and error.errno in OF_THE_PLACE


def in_short(error: BaseException) -> str:
    """Return an error in one line. An OSError names its file and the system's reason, other errors their type."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def choose_from(kind: str, name: str, choices: Iterable[str], where: str = "", owner: str = "") -> str:
    """Return the name if it is one of the choices. Raises BadInput with the nearest choice, or the command that lists them.

    kind: the kind of the choices, such as "stage". where: the file or option that contains the name. owner: the thing that has
    the choices, if there is one, such as "the fault freeze".
    """
    names = list(choices)
    if name in names:
        return name
    place = f"{where}: " if where else ""
    lacking = f"{owner} has no" if owner else "there is no"
    raise BadInput(f"{place}{lacking} {kind} {name!r}. {suggestion(name, names, LISTED_BY.get(kind, ''))}")
