"""Runs that settle nothing are made again, and only those."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from lab.judge.fact import Code, Fact
from lab.judge.judgement import Verdict
from tests.every import every
from tests.trial import Tried, condemned, is_evidence, until_settled

UNREACHED = (Verdict.VOID, Code.DANGER_NOT_REACHED)
DOUBTFUL = (Verdict.VOID, Code.NO_WRITE_OF)
ACCUSED = (Verdict.BROKEN, Code.LOST)
KEPT = (Verdict.KEPT, None)
ADMITTED = (Verdict.ADMITTED, Code.LOST)


@every(
    "runs, is_settled, most, made",
    [
        ([UNREACHED, KEPT], is_evidence, 2, 2),
        ([UNREACHED, UNREACHED, KEPT], is_evidence, 2, 2),
        ([ACCUSED, KEPT], is_evidence, 2, 1),
        ([ADMITTED, KEPT], is_evidence, 2, 1),
        ([DOUBTFUL, KEPT], is_evidence, 2, 1),
        ([KEPT, UNREACHED, ACCUSED], condemned, 3, 3),
        ([KEPT, KEPT, KEPT, ACCUSED], condemned, 3, 3),
        ([ACCUSED, KEPT], condemned, 3, 1),
    ],
)
def test_until_settled(runs, is_settled, most, made):
    """A run without evidence is made once more; a lock that must be condemned has three runs."""
    judgements = [SimpleNamespace(verdict=verdict, why=[Fact(code)] if code else []) for verdict, code in runs]
    coming, repeated = iter(judgements), []

    tried = until_settled(lambda: Tried(next(coming), set(), Path()), is_settled, most, repeated.append)

    assert tried.judgement is judgements[made - 1]
    assert repeated == judgements[: made - 1]
