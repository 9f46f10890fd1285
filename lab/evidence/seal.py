"""The seal of a verdict: what ``run.json`` was when the run was judged. ``verdict.json`` keeps it.

A verdict follows from the evidence and from the figures of ``run.json``: a lease that is a little shorter excuses every loss.
So a run whose two files do not agree proves nothing. This finds what was edited in one place. A stranger who
rewrites all files makes another run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from lab.evidence.damage import Damage, DamageKind
from lab.evidence.regular_file import decoded, read_record
from lab.evidence.run_folder import RUN

VERDICT = "verdict.json"


class Seal(msgspec.Struct, frozen=True):
    """What binds ``verdict.json`` to ``run.json``."""

    # of all bytes of run.json, in hexadecimal
    run_sha256: str


class _Sealed(msgspec.Struct):
    """The part of ``verdict.json`` that a new judgement needs: all else follows from the evidence."""

    seal: Seal | None = None


def kept_seal(folder: Path) -> Seal | None:
    """Return the seal in ``verdict.json``; None where it has none. Raises OSError or msgspec's errors."""
    sealed: _Sealed = decoded(read_record(folder / VERDICT), _Sealed)
    return sealed.seal


def seal_of(folder: Path) -> Seal:
    """Return the seal of a run that was just made. Raises OSError."""
    return Seal(hashlib.sha256(read_record(folder / RUN)).hexdigest())


def differences(folder: Path, kept: Seal | None) -> Iterator[Damage]:
    """Yield how ``run.json`` differs from what it was when the run was judged. kept: the seal in ``verdict.json``."""
    if kept is None:
        yield Damage(VERDICT, DamageKind.NO_SEAL)
    elif seal_of(folder) != kept:
        yield Damage(RUN, DamageKind.CHANGED_SINCE_JUDGED)
