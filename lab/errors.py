"""The errors of a command of the lab, and the exit status of each. Standard library only, for the set-up."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from enum import IntEnum


class ExitStatus(IntEnum):
    """The exit statuses of every command; defined here and nowhere else."""

    GOOD = 0  # promises were kept, or what broke was never promised
    BROKEN = 1  # a promise was broken
    BAD_INPUT = 2  # the command line, a file or a setting is wrong
    NOTHING_SHOWN = 3  # the run or the measurement proves nothing
    CANNOT_RUN = 4  # a program is missing, a server does not start or does not stay up, or the lab failed
    INTERRUPTED = 130  # Ctrl-C, SIGTERM or a closed terminal: 128 + SIGINT, as shells count


MEANINGS = {
    ExitStatus.GOOD: "KEPT or ADMITTED: no claim was broken",
    ExitStatus.BROKEN: "BROKEN: a stage broke its claim",
    ExitStatus.BAD_INPUT: "the input is wrong",
    ExitStatus.NOTHING_SHOWN: "UNSEEN or VOID: the run decides nothing about the claim",
    ExitStatus.CANNOT_RUN: "a program is missing, a server failed, or the lab failed",
    ExitStatus.INTERRUPTED: "interrupted",
}
SEVERITY = (ExitStatus.GOOD, ExitStatus.CANNOT_RUN, ExitStatus.NOTHING_SHOWN, ExitStatus.BROKEN)


def worst(statuses: Iterable[int]) -> ExitStatus:
    """Return the worst exit status of many runs: broken, then nothing shown, then cannot run; good where there are none."""
    return max((ExitStatus(status) for status in statuses), key=SEVERITY.index, default=ExitStatus.GOOD)


class LabError(Exception):
    """An error with a message for the user: the command prints it, without a traceback, and ends with its exit status."""

    exit_status = ExitStatus.CANNOT_RUN


class BadInput(LabError):  # noqa: N818 - names what it is
    """The user's input is wrong. The message names the thing, its place, and the valid choices."""

    exit_status = ExitStatus.BAD_INPUT


class MissingProgram(LabError):  # noqa: N818 - names what it is
    """A program that the lab needs is not on this machine. The message says how to install it."""


class MissingPackage(LabError):  # noqa: N818 - names what it is
    """A Python package that only some measurements need is not installed. The message says how to get it."""


class NotReady(LabError):  # noqa: N818 - names what it is
    """A server did not start, or did not stay up. The message holds the end of its log."""


class RunFailed(LabError):  # noqa: N818 - names what happened
    """A run ended for a reason that the lab did not foresee. The message names the folder in which its evidence is kept."""


def choose_from(kind: str, name: str, choices: Iterable[str], where: str = "", owner: str = "") -> str:
    """Return the name if it is one of the choices. Raises BadInput with the nearest choice and all of them.

    owner: the thing that does not have what is named, if there is one: "the fault freeze".
    """
    names = list(choices)
    if name in names:
        return name
    place = f"{where}: " if where else ""
    near = get_close_matches(name, names, n=1, cutoff=0.5)
    guess = f" Did you mean {near[0]!r}?" if near else ""
    lacking = f"{owner} has no" if owner else "there is no"
    raise BadInput(f"{place}{lacking} {kind} {name!r}.{guess} The choices: {', '.join(names)}.")
