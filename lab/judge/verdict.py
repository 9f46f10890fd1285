"""The verdict on a run, from its folder alone.

| | the scenario's mechanism did no harm | it did harm |
|---|---|---|
| claimed | KEPT | BROKEN |
| not claimed | UNSEEN: the scenario was too gentle | ADMITTED: the lesson, shown |

VOID where the danger was never reached, the two witnesses disagree, or the run was cut short. BROKEN comes before VOID:
what was proved stays proved. A violation of another claim is reported beside; if the stage makes that claim, it is BROKEN.
"""

from __future__ import annotations

from array import array
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from lab.errors import ExitStatus
from lab.evidence import run_folder
from lab.evidence.history import ACKNOWLEDGED, FAILED, UNKNOWN, Damaged, History
from lab.evidence.run_folder import RunRecord
from lab.judge import analysis_without_clock
from lab.judge.analysis import examine
from lab.judge.check import Violation
from lab.judge.checks import checks
from lab.judge.findings import Circumstances, Findings
from lab.judge.mechanisms import UNEXPLAINED
from lab.text import counted


class Verdict(Enum):
    """Five words; the value says what each means."""

    KEPT = "the danger was real, and the promise held"
    BROKEN = "the stage promised it, and did not keep it"
    ADMITTED = "the stage does not promise it, and here is what happens"
    UNSEEN = "the stage does not promise it, and yet nothing happened: the scenario was too gentle"
    VOID = "this run proves nothing"

    @property
    def exit_status(self) -> int:
        """Good: as it should be. Broken: the lock is wrong. Nothing shown: the run proves nothing."""
        good = {Verdict.KEPT: ExitStatus.GOOD, Verdict.ADMITTED: ExitStatus.GOOD, Verdict.BROKEN: ExitStatus.BROKEN}
        return good.get(self, ExitStatus.NOTHING_SHOWN)


class Judgement(msgspec.Struct, kw_only=True):
    """``verdict.json``. Lost, duplicated, failed and unknown are four figures, never netted against each other.

    throughput is of acknowledged requests; waits are from asking for the lock to getting it. commands are what the lock's
    store carried out, by its own count and those inside scripts included; sent, what the replicas sent it for that, by theirs.
    replicas: how many took part. clocks: how many machines stamped the history; with more than one, only what needs no clock was
    judged. danger: what must have happened and what did; ``why`` says in words what is behind VOID, UNSEEN or BROKEN.
    """

    schema: int = 1
    run: str
    scenario: str
    stage: str
    claim: str
    claimed: bool
    verdict: str
    requests: int
    acknowledged: int
    failed: int
    unknown: int
    writes: int
    final: int | None
    lost: int
    duplicated: int
    violations: list[Violation]
    danger: dict[str, Any]
    throughput_per_s: float
    wait_ms: dict[str, float]
    commands_per_increment: float
    sent_per_increment: float = 0.0
    duration_s: float
    replicas: int = 0
    clocks: int = 1

    @property
    def exit_status(self) -> int:
        return Verdict[self.verdict].exit_status


def judge(folder: Path) -> tuple[Judgement, Findings]:
    """Judge a run folder: read the history once, say every loss to ``losses.jsonl``, weigh. Writes nothing else."""
    record = run_folder.load(folder)
    encode = msgspec.json.Encoder().encode
    with (folder / "losses.jsonl").open("wb") as losses:
        try:
            look = examine if record.clocks == 1 else analysis_without_clock.examine
            findings = look(History(folder), _circumstances(record), tell=lambda loss: losses.write(encode(loss) + b"\n"))
        except Damaged as damage:
            findings = Findings(mismatches=[f"the history is damaged: {damage}"])
    return weigh(record, findings), findings


def _circumstances(record: RunRecord) -> Circumstances:
    scenario = record.scenario
    return Circumstances(
        has_store=record.has_store,
        final=None if record.final is None else record.parts or {"": record.final},
        ttl_ms=scenario["ttl_ms"] or 0,
        retry_ms=scenario["retry_ms"],
        start=record.start,
        nested=scenario.get("nested", ""),
        store_persists=scenario.get("store_persists", False),
        tests=scenario["tests"],
        users=scenario["users"],
    )


def weigh(record: RunRecord, findings: Findings) -> Judgement:
    """The judgement on what was found. Pure."""
    claim = record.scenario["tests"]
    claimed = claim in record.stage["claims"]
    violations = [violation for check in checks().values() for violation in check(findings)]
    danger = _danger(record, findings)
    verdict, why = _verdict(record, findings, claim, violations, danger)
    account = findings.account
    return Judgement(
        run=record.run,
        scenario=record.scenario["name"],
        stage=record.stage["name"],
        claim=claim,
        claimed=claimed,
        verdict=verdict.name,
        requests=findings.requests,
        acknowledged=findings.outcomes[ACKNOWLEDGED],
        failed=findings.outcomes[FAILED],
        unknown=findings.outcomes[UNKNOWN],
        writes=account.writes,
        final=record.final,
        lost=account.lost,
        duplicated=findings.duplicated,
        violations=violations,
        danger=danger | {"why": why + _by_values(record)},
        throughput_per_s=round(findings.outcomes[ACKNOWLEDGED] / findings.duration_s, 1) if findings.duration_s else 0.0,
        wait_ms=wait_ms(findings.waits_ns),
        commands_per_increment=round(sum(record.commands.get("lock", {}).values()) / account.writes, 2)
        if account.writes
        else 0.0,
        sent_per_increment=round(findings.sent / account.writes, 2) if account.writes else 0.0,
        duration_s=round(findings.duration_s, 3),
        replicas=len(record.took_part),
        clocks=record.clocks,
    )


def _by_values(record: RunRecord) -> str:
    """That not everything could be asked."""
    several = f" (by values alone: the clocks of {record.clocks} machines cannot be compared)"
    return several if record.clocks > 1 else ""


def wait_ms(waits_ns: array[int]) -> dict[str, float]:
    """The exact median, 99th percentile and maximum, in milliseconds."""
    ordered = sorted(waits_ns) or [0]
    return {
        name: round(ordered[min(len(ordered) - 1, int(len(ordered) * part))] / 1e6, 3)
        for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }


def _danger(record: RunRecord, findings: Findings) -> dict[str, Any]:
    needed: dict[str, int] = record.scenario["danger"]
    seen = {name: findings.measures[name] for name in needed}
    return {
        "reached": all(seen[name] >= least for name, least in needed.items()),
        "needed": needed,
        "seen": seen,
        "overlapping_beliefs": findings.overlapping_beliefs,
    }


def _void_reasons(record: RunRecord, findings: Findings) -> list[str]:
    reasons = [] if record.ended == "complete" else [record.ended]
    if record.in_flight_left:
        reasons.append("requests were still inside the replicas when the counter was read")
    reasons += findings.mismatches
    if findings.account.disagreement:
        reasons.append(findings.account.disagreement)
    if record.clocks > 1 and record.scenario["tests"] not in analysis_without_clock.CLAIMS:
        reasons.append(f"{record.scenario['tests']} is judged by one clock, and {record.clocks} machines stamped this history")
    sent, wanted = findings.requests, record.scenario["requests"]
    if sent != wanted and record.ended == "complete":
        reasons.append(f"{sent} requests are on record instead of {wanted}")
    return reasons


def _broke(violation: Violation, claims: list[str]) -> str:
    promised = f"claimed {violation.claim}, but " if violation.claim in claims else ""
    return f"{promised}{violation.what}: {violation.mechanism}"


def _what_was_missing(findings: Findings) -> str:
    """Most likely, where the danger was never reached: requests that were served, or more of them."""
    refused = findings.requests - findings.outcomes[ACKNOWLEDGED]
    if not refused:
        return f"{counted(findings.requests, 'request')} may be too few for it, or came too slowly"
    why, often = next(iter(findings.whys.most_common(1)), ("nobody said why", refused))
    return (
        f"{refused} of {counted(findings.requests, 'request')} were not served, {often} of them because: {why} (logs/ has more)"
    )


def _verdict(
    record: RunRecord, findings: Findings, claim: str, violations: list[Violation], danger: dict[str, Any]
) -> tuple[Verdict, str]:
    claims = record.stage["claims"]
    if broken := [violation for violation in violations if violation.claim in claims or violation.mechanism == UNEXPLAINED]:
        return Verdict.BROKEN, "; ".join(_broke(one, claims) for one in broken)
    if void := _void_reasons(record, findings):
        return Verdict.VOID, "; ".join(void)
    own = [violation for violation in violations if violation.claim == claim]
    if own:
        return Verdict.ADMITTED, "; ".join(f"{one.what}: {one.mechanism}" for one in own)
    if not danger["reached"]:
        short = [
            f"{name} was {danger['seen'][name]}, needed {least}"
            for name, least in danger["needed"].items()
            if danger["seen"][name] < least
        ]
        return Verdict.VOID, "the danger was never reached: " + "; ".join((*short, _what_was_missing(findings)))
    if claim in claims:
        return Verdict.KEPT, Verdict.KEPT.value
    return Verdict.UNSEEN, Verdict.UNSEEN.value
