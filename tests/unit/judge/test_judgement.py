"""``verdict.json``: what is written is read back."""

import json
from typing import Any

import msgspec
import pytest

from lab.evidence.fault_record import FaultRecord
from lab.evidence.loss import GrantFacts, Loss, Mechanism
from lab.evidence.record_lines import files_of, read_lines
from lab.judge.fact import (
    Code,
    Fact,
    FreedEarly,
    HalfDone,
    Idle,
    Overtaken,
    Reentered,
    Refusals,
    RefusedAndWritten,
    Repeated,
    TwoInside,
    Unwritten,
    Wait,
)
from lab.judge.faults import FaultOutcome
from lab.judge.judgement import Evidence, Judgement, Violation
from tests.builders import judgement_of
from tests.every import every
from tests.kept_runs import CHAPTERS, LADDER

VERDICTS = [files_of(record)["verdict.json"] for path in (LADDER, CHAPTERS) for record in read_lines(path).values()]
FACTS = GrantFacts("r1", "replica-1", 0, 1, 0, 10, 20, 30, 40, 50)
ALL_EVIDENCE: list[Evidence] = [
    Loss(1, Mechanism.GRANTED_TWICE, FACTS, None),
    FaultOutcome(FaultRecord("kill-1", "replica-1", 7, "r1", 10), next_got_ns=20, next_request="r2"),
    Wait("r1", "replica-1", 1, 2, got=False, wanted="a", holding="b"),
    Overtaken("r1", "replica-1", 3, 1, 2),
    Idle("r1", "r2", 1, 2),
    Repeated("r1", 2),
    HalfDone(**msgspec.structs.asdict(FACTS), how="refused"),
    FreedEarly(**msgspec.structs.asdict(FACTS)),
    Reentered("r2", "r1", "replica-1", 10, 20),
    Refusals(4),
    RefusedAndWritten("r1", 503),
    TwoInside(FACTS, FACTS),
    Unwritten("r1", "replica-1"),
]


def content(**figures: Any) -> dict[str, Any]:
    """The content of a file."""
    return json.loads(msgspec.json.encode(judgement_of())) | figures


def decoded(content: dict) -> Judgement:
    return Judgement.decode(json.dumps(content))


def test_round_trip():
    """A judgement with evidence of every kind is read back as it was written."""
    one = decoded(content())
    one.violations = [Violation("exclusive", Mechanism.NO_LOCK, [Fact(Code.LOST, 1)], ALL_EVIDENCE)]

    assert {type(one) for one in ALL_EVIDENCE} == set(Evidence.__args__)
    assert Judgement.decode(msgspec.json.encode(one)) == one


@every(
    "acknowledged, writes, lost, duration_s, speed",
    [
        (5000, 5000, 3526, 2.0, 737.0),
        (60, 60, 0, 3.0, 20.0),
        (5, 5, 9, 1.0, 0.0),
        (0, 0, 0, 0.0, 0.0),
        (5000, 14644, 11708, 2.0, 1468.0),  # retries wrote again: 2936 of all writes are in the counter
        (10, 0, 0, 1.0, 10.0),
    ],
)
def test_speed_counts_what_was_kept(acknowledged, writes, lost, duration_s, speed):
    """The one speed of a run: an increment that was acknowledged and lost adds nothing to it."""
    figures = {"acknowledged": acknowledged, "writes": writes, "lost": lost, "duration_s": duration_s}

    assert decoded(content(**figures)).kept_per_s == speed


@pytest.mark.parametrize("schema", [2, 4])
def test_other_schema(schema):
    """A file of another form is refused by its schema, whatever fields it has."""
    with pytest.raises(msgspec.ValidationError, match=f"has the schema {schema}; this lab reads schema 3"):
        decoded(content(schema=schema, violations=0))


@every("content", VERDICTS)
def test_kept_verdicts(content):
    """Each committed verdict is read, and has the same words and figures as its file."""
    kept, judgement = json.loads(content), Judgement.decode(content)

    assert (judgement.verdict, judgement.lost, judgement.final) == (kept["verdict"], kept["lost"], kept["final"])
    assert [one.code for one in judgement.why] == [one["code"] for one in kept["why"]]
    assert [len(one.evidence) for one in judgement.violations] == [len(one["evidence"]) for one in kept["violations"]]
