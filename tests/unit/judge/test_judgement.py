"""``verdict.json``: what is written is read back, and the files of schema 1 are read as well."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import msgspec
import pytest

from lab.commands.check import check_again
from lab.errors import ExitStatus
from lab.evidence.fault_record import FaultRecord
from lab.evidence.loss import GrantFacts, Loss
from lab.judge.examples import (
    FreedEarly,
    HalfDone,
    Idle,
    OldEvidence,
    Overtaken,
    Reentered,
    Refusals,
    RefusedAndWritten,
    Repeated,
    TwoInside,
    Unwritten,
    Wait,
)
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.judgement import Judgement, Measure, Verdict
from lab.judge.verdict import judge
from lab.judge.violation import Evidence, Violation
from lab.paths import HOME
from lab.report import run_data

REFERENCE = sorted((HOME / "reports" / "reference").rglob("verdict.json"))
OLD_RUNS = sorted((Path(__file__).parent / "runs_of_schema_1").iterdir())
FACTS = GrantFacts("r1", "replica-1", 0, 1, 0, 10, 20, 30, 40, 50)
ALL_EVIDENCE: list[Evidence] = [
    Loss(1, "granted twice", FACTS, None),
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
    OldEvidence({"longest_ms": "3"}),
]
NUMBERS = dict.fromkeys(("requests", "acknowledged", "failed", "unknown", "writes", "lost", "duplicated"), 1)


def schema_1(evidence: list[dict]) -> dict:
    """The content of a file of schema 1, with only the fields that the first of them had."""
    return NUMBERS | {
        "schema": 1,
        "run": "r",
        "scenario": "rush",
        "stage": "none",
        "claim": "exclusive",
        "claimed": False,
        "verdict": "ADMITTED",
        "final": 1,
        "violations": [{"claim": "exclusive", "mechanism": "no lock", "what": "seen", "evidence": evidence}],
        "danger": {
            "reached": True,
            "needed": {"handovers": 5},
            "seen": {"handovers": 9},
            "overlapping_beliefs": 3,
            "why": "seen: no lock",
        },
        "throughput_per_s": 1.0,
        "wait_ms": {"p50": 1.0, "p99": 1.0, "max": 1.0},
        "commands_per_increment": 1.0,
        "duration_s": 1.0,
    }


def decoded(content: dict) -> Judgement:
    return Judgement.decode(json.dumps(content))


def test_round_trip():
    """A judgement with evidence of every kind is read back as it was written."""
    old = decoded(schema_1([]))
    old.violations = [Violation("exclusive", "no lock", "seen", ALL_EVIDENCE)]

    assert {type(one) for one in ALL_EVIDENCE} == set(Evidence.__args__)
    assert Judgement.decode(msgspec.json.encode(old)) == old


def test_schema_1_fields():
    """The reason, the danger and the overlaps of schema 1 have fields of their own."""
    judgement = decoded(schema_1([]))

    assert (judgement.schema, judgement.verdict, judgement.why) == (2, Verdict.ADMITTED, "seen: no lock")
    assert (judgement.danger, judgement.danger_reached) == ({"handovers": Measure(needed=5, seen=9)}, True)
    assert judgement.overlapping_beliefs == 3


@pytest.mark.parametrize(
    ("acknowledged", "writes", "lost", "duration_s", "speed"),
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

    assert decoded(schema_1([]) | figures).kept_per_s == speed


@pytest.mark.parametrize(
    "evidence",
    [one for one in ALL_EVIDENCE if not isinstance(one, (Reentered, RefusedAndWritten, TwoInside, Unwritten))],
    ids=lambda one: type(one).__name__,
)
def test_schema_1_evidence(evidence):
    """Each kind of evidence of schema 1, which had no tag and had a fault in one flat table, becomes its type."""
    flat = msgspec.to_builtins(evidence)
    flat |= flat.pop("record", {})
    flat |= flat.pop("facts", {})
    del flat["what"]

    assert decoded(schema_1([flat])).violations[0].evidence == [evidence]


@pytest.mark.parametrize("missing", ["danger", "violations", "stage"])
def test_schema_1_damaged(missing):
    """A file of schema 1 without a field it must have is refused like any other damaged file."""
    content = schema_1([])
    del content[missing]

    with pytest.raises(msgspec.ValidationError, match=missing):
        decoded(content)


def test_unknown_schema_is_not_taken_for_schema_1():
    """Only schema 1 is converted: a later file must have the fields of schema 2."""
    with pytest.raises(msgspec.ValidationError):
        decoded(schema_1([]) | {"schema": 3})


@pytest.mark.parametrize("path", REFERENCE, ids=lambda path: path.parent.name)
def test_reference_files(path):
    """Each committed verdict is read, and has the same words and figures as its file."""
    content, judgement = json.loads(path.read_bytes()), run_data.load(path.parent).judgement

    assert content["schema"] in (1, 2)
    assert (judgement.verdict, judgement.lost, judgement.final) == (content["verdict"], content["lost"], content["final"])
    assert judgement.why == content.get("why", content["danger"].get("why"))
    assert [len(one.evidence) for one in judgement.violations] == [len(one["evidence"]) for one in content["violations"]]


@pytest.mark.parametrize("old", OLD_RUNS, ids=lambda path: path.name)
def test_old_runs(old, tmp_path, capsys):
    """A run folder of before comes to the same judgement and the same losses as when it was made.

    A loss may be attributed better today: two holders of different leases were once both explained by one theft.
    """
    folder = tmp_path / old.name
    shutil.copytree(old, folder)
    before = Judgement.load(folder)
    losses_before = [msgspec.json.decode(line, type=Loss) for line in (old / "losses.jsonl").read_bytes().splitlines()]

    judgement, _ = judge(folder)

    assert json.loads((old / "verdict.json").read_bytes())["schema"] == 1
    assert (judgement.verdict, judgement.lost, judgement.final) == (before.verdict, before.lost, before.final)
    assert (judgement.danger, judgement.wait_ms) == (before.danger, before.wait_ms)
    assert [(one.claim, one.mechanism) for one in judgement.violations] == [
        (one.claim, one.mechanism) for one in before.violations
    ]
    losses = [msgspec.json.decode(line, type=Loss) for line in (folder / "losses.jsonl").read_bytes().splitlines()]
    facts = [(one.destroyed, one.culprit, one.victim) for one in losses]
    assert facts == [(one.destroyed, one.culprit, one.victim) for one in losses_before]

    status = check_again(str(folder), as_json=True)

    assert "run.json has no inventory of the evidence" in Judgement.decode(capsys.readouterr().out).why
    assert status == ExitStatus.NOTHING_SHOWN
