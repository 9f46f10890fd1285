"""The seal of a verdict: what ``run.json`` was when the run was judged. ``verdict.json`` keeps it.

A verdict follows from the evidence and from the figures of ``run.json``: a lease that is a little shorter excuses every loss.
So a run whose two files do not agree proves nothing. This finds what was edited in one place. A stranger who
rewrites all files makes another run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from reprlib import repr  # noqa: A004 - in short: the value is a stranger's
from typing import Any

import msgspec

from lab.evidence.damage import Damage
from lab.evidence.regular_file import decoded, read_record
from lab.evidence.run_folder import RUN, RunRecord

VERDICT = "verdict.json"
OF_THE_RUN = ("clocks", "start", "final", "ended")
OF_THE_STAGE = ("name", "store", "claims", "ttl_ms")
OF_THE_SCENARIO = (
    "name",
    "tests",
    "requests",
    "users",
    "replicas",
    "seed",
    "ttl_ms",
    "lease_ms",
    "wait_ms",
    "work_ms",
    "retry_ms",
    "nested",
    "danger",
)


class Seal(msgspec.Struct, frozen=True):
    """What binds ``verdict.json`` to ``run.json``."""

    # of all bytes of run.json, in hexadecimal
    run_sha256: str
    # the figures on which the verdict rests, by their place in run.json
    figures: dict[str, Any]


class _Sealed(msgspec.Struct):
    """The part of ``verdict.json`` that a new judgement needs: all else follows from the evidence."""

    seal: Seal | None = None


def kept_seal(folder: Path) -> Seal | None:
    """Return the seal in ``verdict.json``; None where it has none. Raises OSError or msgspec's errors."""
    sealed: _Sealed = decoded(read_record(folder / VERDICT), _Sealed)
    return sealed.seal


def seal_of(folder: Path, record: RunRecord) -> Seal:
    """Return the seal of a run that was just made. Raises OSError."""
    return Seal(hashlib.sha256(read_record(folder / RUN)).hexdigest(), _figures(record))


def differences(folder: Path, record: RunRecord, kept: Seal | None) -> Iterator[Damage]:
    """Yield how ``run.json`` differs from what it was when the run was judged. kept: the seal in ``verdict.json``."""
    if kept is None:
        yield Damage(VERDICT, "does not state which run.json was judged")
        return
    now = seal_of(folder, record)
    other = [name for name in {**now.figures, **kept.figures} if now.figures.get(name) != kept.figures.get(name)]
    for name in other:
        yield Damage(RUN, f"has {name} {repr(now.figures.get(name))}, but {VERDICT} has {repr(kept.figures.get(name))}")
    if not other and now.run_sha256 != kept.run_sha256:
        yield Damage(RUN, "was changed after the run had been judged")


def _figures(record: RunRecord) -> dict[str, Any]:
    """Return the figures by their place in run.json; None where it has none."""
    return {
        **{name: getattr(record, name) for name in OF_THE_RUN},
        **{f"stage.{name}": record.stage.get(name) for name in OF_THE_STAGE},
        **{f"scenario.{name}": record.scenario.get(name) for name in OF_THE_SCENARIO},
    }
