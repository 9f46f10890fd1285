"""Judge a run, from its folder alone.

| | the scenario's mechanism did no harm | it did harm |
|---|---|---|
| claimed | KEPT | BROKEN |
| not claimed | UNSEEN: the scenario was too gentle | ADMITTED: the lesson, shown |

VOID where the danger was never reached, where the two counts disagree (the load's requests, and the writes in the replicas'
journals), or where the run was cut short. BROKEN comes before VOID: a proof stays a proof. A violation of another
claim is reported next to the verdict; if the stage makes that claim, the verdict is BROKEN.
"""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.lock import Claim
from lab.evidence import run_folder, seal
from lab.evidence.damage import Damage
from lab.evidence.history import History, Outcome
from lab.evidence.inventory import MISSING, changes
from lab.evidence.loss import LossFile
from lab.evidence.mechanism import Mechanism
from lab.evidence.run_folder import RUN, RunRecord
from lab.evidence.seal import VERDICT, Seal
from lab.judge import analysis, analysis_without_clock, completeness
from lab.judge.findings import Findings, RunFacts
from lab.judge.judgement import Judgement, Measure, Verdict
from lab.judge.liveness import serves_next_to_nobody
from lab.judge.net_losses import net_losses
from lab.judge.promises import FREED, IN_TIME, PROMISES
from lab.judge.proof import doubts, rests_on_the_key, stands, strange
from lab.judge.unseen import Unseen, unseen
from lab.judge.violation import Violation
from lab.story import say
from lab.text import counted

# claims that a lock gets free again; of a lock that hardly ever is, a fault shows nothing
ABOUT_FREEING = frozenset(one.claim.name for one in FREED)
HELD = "the stage does not promise it, and it held all the same: its lock was renewed"
# answers that say the contrary of what was done: no stage need promise it
CONTRADICTED = (Mechanism.NEVER_DONE, Mechanism.DONE_ALTHOUGH_REFUSED)


def judge(folder: Path) -> tuple[Judgement, Findings]:
    """Judge a run that this lab has just made: read the history once, write every loss to ``losses.jsonl``, and weigh.

    Writes no other file. Where that file cannot be written, the run is judged all the same: ``Findings.losses_unwritten`` has
    the reason.
    """
    record = run_folder.load(folder)
    return _judge(folder, record, list(changes(folder, record.files)), seal.seal_of(folder, record))


def judge_again(folder: Path) -> tuple[Judgement, Findings]:
    """Judge a run folder that may come from anywhere, as ``judge`` does.

    It must be whole: its files are those of the inventory in ``run.json``, and ``run.json`` is the one that ``verdict.json``
    names. A file that is not the one that the run wrote is not read. The seal stays that of the first verdict.
    """
    record = run_folder.load(folder)
    damage = list(changes(folder, record.files)) if record.files else [Damage(RUN, "has no inventory of the evidence")]
    kept = None
    try:
        kept = seal.kept_seal(folder)
        damage += seal.differences(folder, record, kept)
    except FileNotFoundError:
        damage.append(Damage(VERDICT, MISSING))
    except OSError as error:
        damage.append(Damage(VERDICT, f"cannot be read: {error.strerror}"))
    except msgspec.MsgspecError as error:
        damage.append(Damage(VERDICT, f"cannot be read: {error}"))
    return _judge(folder, record, damage, kept)


def _judge(folder: Path, record: RunRecord, damage: list[Damage], kept: Seal | None) -> tuple[Judgement, Findings]:
    """Judge what is whole. damage: what is known before the evidence is read; its files are left out."""
    left_out = frozenset(one.file for one in damage)
    with contextlib.closing(LossFile(folder)) as losses:
        analyse = analysis.analyse if record.clocks == 1 else analysis_without_clock.analyse
        history = History(folder, left_out)
        findings = analyse(history, _run_facts(record, unseen(record, history)), losses.add)
    findings.left_out = left_out
    findings.damage += [*damage, *completeness.missing(folder, record, findings)]
    findings.losses_unwritten = losses.failure
    judgement = weigh(record, findings)
    judgement.seal = kept
    return judgement, findings


def _run_facts(record: RunRecord, not_seen: Unseen | None) -> RunFacts:
    scenario = record.scenario
    return RunFacts(
        unseen=not_seen,
        work_ms=scenario.get("work_ms") or 0,
        has_store=record.has_store,
        final=None if record.final is None else record.parts or {"": record.final},
        ttl_ms=scenario["ttl_ms"] or 0,
        lease_ms=scenario.get("lease_ms") or record.stage.get("ttl_ms") or 0,
        has_explicit_lease=bool(scenario.get("lease_ms")),
        retry_ms=scenario["retry_ms"],
        start=record.start,
        nested=scenario.get("nested", ""),
        store_persists=scenario.get("store_persists", False),
        store_syncs=scenario.get("store_syncs", "always"),
        tests=scenario["tests"],
        stock=scenario.get("stock"),
        users=scenario["users"],
        wait_ms=scenario.get("wait_ms", 0),
        leases_begin_before=record.stage.get("store") == "etcd",
        reports_keys=record.stage.get("store") in completeness.REPORTS_KEYS,
        has_votes=record.stage.get("store") == "redis_nodes",
        votes_needed=scenario["danger"].get("votes", 0),
        has_faults=bool(scenario.get("faults")),
        is_complete=record.ended == "complete",
    )


def weigh(record: RunRecord, findings: Findings) -> Judgement:
    """Return the judgement on the findings. A pure function."""
    claim = record.scenario["tests"]
    claimed = claim in record.stage["claims"]
    found = [
        one
        for promise in PROMISES.values()
        for one in promise.violations(findings)
        if stands(one, findings, record.stage["claims"])
    ]
    violations = [one for one in found if not rests_on_the_key(one, findings)]
    danger = _danger(record, findings)
    rests = [one for one in found if one not in violations and one.claim in (claim, *record.stage["claims"])]
    verdict, why = _verdict(record, findings, claim, violations, danger, [strange(findings)] if rests else [])
    account = findings.account
    return Judgement(
        run=record.run,
        scenario=record.scenario["name"],
        stage=record.stage["name"],
        claim=claim,
        claimed=claimed,
        verdict=verdict,
        why=why + _by_values(record),
        requests=findings.requests,
        acknowledged=findings.outcomes[Outcome.ACKNOWLEDGED],
        failed=findings.outcomes[Outcome.FAILED],
        unknown=findings.outcomes[Outcome.UNKNOWN],
        sold_out=findings.outcomes[Outcome.SOLD_OUT],
        stock=findings.run.stock,
        writes=account.writes,
        final=record.final,
        lost=_lost(record, findings),
        duplicated=findings.duplicated,
        violations=violations,
        danger=danger,
        overlapping_beliefs=findings.overlapping_beliefs,
        throughput_per_s=round(findings.outcomes[Outcome.ACKNOWLEDGED] / findings.duration_s, 1) if findings.duration_s else 0.0,
        wait_ms=wait_ms(findings.waits_ns),
        commands_per_increment=round(sum(record.commands.get("lock", {}).values()) / account.writes, 2)
        if account.writes
        else 0.0,
        sent_per_increment=round(findings.sent / account.writes, 2) if account.writes else 0.0,
        duration_s=round(findings.duration_s, 3),
        replicas=len(record.took_part),
        clocks=record.clocks,
    )


def _lost(record: RunRecord, findings: Findings) -> int:
    """Return how many increments are gone. Where journals are incomplete, the answers are counted in place of the writes."""
    lost = findings.account.lost
    if not doubts(findings) or record.final is None:
        return max(0, lost)
    return max(0, lost, findings.outcomes[Outcome.ACKNOWLEDGED] - (record.final - record.start))


def _by_values(record: RunRecord) -> str:
    """Return what the reason must add where several clocks stamped the history: only clock-free checks were made."""
    several = f" (judged by values alone: the clocks of {record.clocks} machines cannot be compared)"
    return several if record.clocks > 1 else ""


def wait_ms(waits_ns: array[int]) -> dict[str, float]:
    """Return the exact median, 99th percentile and maximum, in milliseconds."""
    ordered = sorted(waits_ns) or [0]
    return {
        name: round(ordered[min(len(ordered) - 1, int(len(ordered) * part))] / 1e6, 3)
        for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }


def _danger(record: RunRecord, findings: Findings) -> dict[str, Measure]:
    needed: dict[str, int] = record.scenario["danger"]
    return {name: Measure(needed=least, seen=findings.measures[name]) for name, least in needed.items()}


def _void_reasons(record: RunRecord, findings: Findings) -> list[str]:
    reasons = [] if record.ended == "complete" else [record.ended]
    if record.unwritten and record.ended == "complete":
        reasons.append(record.unwritten)
    if record.in_flight_left:
        reasons.append("requests were still inside the replicas when the counter was read")
    reasons += [f"the evidence is damaged: {', '.join(map(str, findings.damage))}"] if findings.damage else []
    reasons += _doubts(record, findings)[len(findings.damage) :]
    if findings.run.unseen is not None:
        reasons.append(str(findings.run.unseen))
    if Mechanism.TTL_TOO_SHORT in findings.losses:
        ms = findings.run.lease_ms
        reasons.append(
            f"the lease of {ms} ms is shorter than an increment takes here: requests lost it, and nothing else had failed"
        )
    if Mechanism.STOPPED_FROM_OUTSIDE in findings.losses:
        longest = max(findings.stalls, key=lambda stall: stall.lasted_ns)
        reasons.append(f"{longest.replica} was stopped for {longest.lasted_ns / 1e6:.0f} ms by something outside the lab")
    if unfree := _hardly_ever_free(record, findings):
        reasons.append(unfree)
    if record.clocks > 1 and record.scenario["tests"] not in analysis_without_clock.CLAIMS:
        reasons.append(f"{record.scenario['tests']} is judged by one clock, and {record.clocks} machines stamped this history")
    return reasons


def _hardly_ever_free(record: RunRecord, findings: Findings) -> str:
    """Return why nothing can be said of a lock after a fault, if it served next to nobody before; empty otherwise."""
    if record.scenario["tests"] not in ABOUT_FREEING or not findings.faults:
        return ""
    limit_ms = IN_TIME.in_ms(findings.run.ttl_ms)
    if not all(serves_next_to_nobody(fault, findings, limit_ms) for fault in findings.faults):
        return ""
    return "the lock serves next to nobody without a fault: it was free for as long, with waiters, before the fault as after it"


def _doubts(record: RunRecord, findings: Findings) -> list[str]:
    """Return what makes the evidence doubtful, with the requests that are not on record."""
    sent, wanted = findings.requests, record.scenario["requests"]
    few = [f"{sent} requests are on record instead of {wanted}"] if sent != wanted and record.ended == "complete" else []
    unwritten = () if findings.is_never_written else findings.first_unwritten
    missing = [f"{one.request} was acknowledged, but no replica wrote for it" for one in unwritten]
    refused = () if findings.is_never_refused else findings.first_refused_and_written
    missing += [f"{one.request} was refused with {one.status}, but a replica wrote for it" for one in refused]
    return doubts(findings) + missing + few


def _others(findings: Findings) -> Iterator[str]:
    """Yield what a reader must know of a run whose promise held: who was not served, and what was lost by other causes."""
    failed, unknown = findings.outcomes[Outcome.FAILED], findings.outcomes[Outcome.UNKNOWN]
    if failed or unknown:
        yield f"{failed + unknown} of {counted(findings.requests, 'request')} were not served"
    if findings.account.lost:
        causes = " and ".join(map(say.mechanism, net_losses(findings.account.lost, findings.losses)))
        yield f"{counted(findings.account.lost, 'increment')} lost otherwise: {causes}"


def _broke(violation: Violation, claims: list[str]) -> str:
    words = Claim[violation.claim].value.removesuffix(".")
    promised = f'claimed {violation.claim} ("{words}"), but ' if violation.claim in claims else ""
    return f"{promised}{violation.what}: {say.mechanism(violation.mechanism)}"


def _what_was_missing(findings: Findings) -> str:
    """Explain the most likely reason why the danger was never reached: too few requests, or too many failures."""
    if findings.struck_one_vote:
        return "the fault struck the command to one of several servers, and the others were a majority without it"
    refused = findings.requests - findings.outcomes[Outcome.ACKNOWLEDGED] - findings.outcomes[Outcome.SOLD_OUT]
    if not refused:
        return f"{counted(findings.requests, 'request')} may be too few for it, or came too slowly"
    why, often = next(iter(findings.whys.most_common(1)), (_no_reason(findings), refused))
    return (
        f"{refused} of {counted(findings.requests, 'request')} were not served, {often} of them because: {why} (logs/ has more)"
    )


def _no_reason(findings: Findings) -> str:
    """Explain why requests ended without a reason on record: a stage can end the process that serves them."""
    ended = findings.starts.total() - len(findings.starts) - len(findings.faults)
    often = f", and processes of the replicas ended {counted(ended, 'time')} without a fault" if ended > 0 else ""
    return f"no reason is on record{often}"


def _verdict(
    record: RunRecord,
    findings: Findings,
    claim: str,
    violations: list[Violation],
    danger: dict[str, Measure],
    unproved: list[str],
) -> tuple[Verdict, str]:
    claims = record.stage["claims"]
    broken = [
        one
        for one in violations
        if (one.claim in claims and one.mechanism != Mechanism.STOPPED_FROM_OUTSIDE) or one.mechanism in CONTRADICTED
    ]
    if broken and not record.unwritten:  # where a file could not be written, nothing is proved by the rest
        wrong = _doubts(record, findings) if record.ended == "complete" else list(map(str, findings.damage))
        damage = [f"and the evidence is damaged: {', '.join(wrong)}"] if wrong else []
        return Verdict.BROKEN, "; ".join([*(_broke(violation, claims) for violation in broken), *damage])
    if void := [*_void_reasons(record, findings), *unproved]:
        return Verdict.VOID, "; ".join(void)
    own = [violation for violation in violations if violation.claim == claim]
    if own:
        return Verdict.ADMITTED, "; ".join(f"{violation.what}: {say.mechanism(violation.mechanism)}" for violation in own)
    short = [f"{name} was {measure.seen}, needed {measure.needed}" for name, measure in danger.items() if not measure.reached]
    if short:
        return Verdict.VOID, "the danger was never reached: " + "; ".join((*short, _what_was_missing(findings)))
    if claim in claims:
        return _nothing_broke(findings)
    return Verdict.UNSEEN, HELD if _outlasted_by_renewals(findings, claim) else Verdict.UNSEEN.meaning


def _outlasted_by_renewals(findings: Findings, claim: str) -> bool:
    """Return whether a lock outlasted its TTL because it was renewed, although its stage does not promise that."""
    about_leases = (Claim.held_to_the_end.name, Claim.held_past_an_explicit_lease.name, Claim.survives_a_failed_renewal.name)
    return claim in about_leases and findings.renewals > 0 and findings.measures["outlasted_ttl"] > 0


def _nothing_broke(findings: Findings) -> tuple[Verdict, str]:
    """Return the verdict on a promise that held. Where nobody was served, nothing was kept."""
    if not findings.outcomes[Outcome.ACKNOWLEDGED]:
        return Verdict.VOID, f"no request was served, so nothing was kept: {_what_was_missing(findings)}"
    return Verdict.KEPT, "; ".join((Verdict.KEPT.meaning, *_others(findings)))
