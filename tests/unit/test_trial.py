"""Runs that settle nothing are made again, and only those."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

from lab.judge.judgement import Verdict
from tests.every import every
from tests.trial import Tried, condemned, is_evidence, until_settled

UNREACHED = (Verdict.VOID, "the danger was never reached: struck was 0, needed 1")
DOUBTFUL = (Verdict.VOID, "r1 was acknowledged, but no replica wrote for it")
ACCUSED = (Verdict.BROKEN, "claimed exclusive, but 1 increment lost")
KEPT = (Verdict.KEPT, "the danger was real, and the promise held")
ADMITTED = (Verdict.ADMITTED, "1 increment lost: deleted by another")


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
    """A run without evidence is made once more; a lock that must be condemned has three runs. Each repeat has its reason."""
    judgements = [SimpleNamespace(verdict=verdict, why=why) for verdict, why in runs]
    coming, reasons = iter(judgements), []

    tried = until_settled(lambda: Tried(next(coming), set(), Path()), is_settled, most, reasons.append)

    assert tried.judgement is judgements[made - 1]
    assert reasons == [why for _, why in runs[: made - 1]]
