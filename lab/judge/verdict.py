"""Judge a run, from its folder alone.

| | the scenario's mechanism did no harm | it did harm |
|---|---|---|
| claimed | KEPT | BROKEN |
| not claimed | UNSEEN: the danger was real, and nothing went wrong | ADMITTED: the lesson, shown |

VOID if the danger was never reached, if the two counts disagree (the load's requests, and the writes in the replicas' journals),
or if the run was cut short. BROKEN comes before VOID: a proof stays a proof. A violation of another claim is reported next to the
verdict; if the stage makes that claim, the verdict is BROKEN.

A violation is proved by evidence that is complete, and in which the load's record and the journals agree.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from app.lock import Claim
from lab.evidence import run_folder
from lab.evidence.history import FAULTS, KEY_EVENTS, History, Outcome, journal_of
from lab.evidence.loss import Loss, Mechanism, write_losses
from lab.evidence.run_folder import RUN
from lab.evidence.run_record import Damage, DamageKind, Ending, RunRecord, changes
from lab.judge import run_facts
from lab.judge.analysis import analyse
from lab.judge.clock_bounds import Clocks, bound
from lab.judge.fact import Code, Fact, TwoInside
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement, Measure, Verdict, Violation
from lab.judge.losses import net_losses
from lab.judge.promises import FREED, IN_TIME, PROMISES
from lab.judge.violations import serves_next_to_nobody

# the claims that a lock becomes free again; if a lock hardly ever is free, a fault shows nothing
ABOUT_FREEING = frozenset(one.claim.name for one in FREED)
NAMED = 3  # the most keys that a fact names


def judge(folder: Path) -> tuple[Judgement, Findings]:
    """Judge a run that this lab has just made: read the history once, write every loss to ``losses.jsonl``, and weigh.

    Writes no other file. If that file cannot be written, the run is judged without it: ``Findings.losses_unwritten`` has the
    reason.
    """
    return _judge(folder, run_folder.load(folder), [])


def judge_again(folder: Path) -> tuple[Judgement, Findings]:
    """Judge a run folder of any origin, as ``judge`` does.

    A file that differs from the inventory of ``run.json`` is not read.
    """
    record = run_folder.load(folder)
    return _judge(folder, record, list(changes(folder, record.files)))


def _judge(folder: Path, record: RunRecord, damage: list[Damage]) -> tuple[Judgement, Findings]:
    """Judge the undamaged files. damage: the damage that is known before the evidence is read; its files are left out."""
    left_out = frozenset(one.file for one in damage)
    history = History(folder, left_out)
    findings = analyse(history, run_facts.of(record, _clocks(record, history)))
    findings.left_out = left_out
    findings.damage += [*damage, *(one for one in missing(folder, record, findings) if one.file not in left_out)]
    findings.losses_unwritten = write_losses(folder, findings.trace.losses)
    return weigh(record, findings), findings


def _clocks(record: RunRecord, history: History) -> Clocks:
    """Return how far the clocks that stamped the history are apart."""
    if not record.clock_of:
        return Clocks(contradict=record.clocks > 1)
    return bound(history, record.clock_of, record.clock_readings)


def weigh(record: RunRecord, findings: Findings) -> Judgement:
    """Return the judgement on the findings. A pure function."""
    claim, promised = record.scenario["tests"], record.stage["claims"]
    claimed = claim in promised
    every = chain.from_iterable(one.violations(findings, one.claim.name in promised) for one in PROMISES.values())
    found = [] if doubts(findings) else list(every)
    for one in found:
        one.claimed = one.claim in promised
    violations = [one for one in found if not rests_on_the_key(one, findings)]
    needed: dict[str, int] = record.scenario["danger"]
    danger = {name: Measure(needed=least, seen=findings.measures[name]) for name, least in needed.items()}
    rests = [one for one in found if one not in violations and (one.claimed or one.claim == claim)]
    unproved = [Fact(Code.STRANGE_KEY, name=findings.strange_key, several=tuple(findings.known_keys[:NAMED]))] if rests else []
    verdict, why = _verdict(record, findings, violations, danger, unproved)
    account, lost, clocks = findings.account, _lost_increments(record, findings), findings.run.clocks
    writes = account.writes or math.inf  # without a write, the figures of an increment are 0
    return Judgement(
        run=record.run,
        scenario=record.scenario["name"],
        stage=record.stage["name"],
        claim=claim,
        claimed=claimed,
        verdict=verdict,
        why=why,
        requests=findings.requests,
        acknowledged=findings.outcomes[Outcome.ACKNOWLEDGED],
        failed=findings.outcomes[Outcome.FAILED],
        unknown=findings.outcomes[Outcome.UNKNOWN],
        sold_out=findings.outcomes[Outcome.SOLD_OUT],
        stock=record.scenario.get("stock"),
        writes=account.writes,
        final=record.final,
        lost=lost,
        lost_by=net_losses(lost, findings.losses),
        duplicated=findings.duplicated,
        violations=violations,
        danger=danger,
        wait_ms=wait_ms(findings.waits_ns),
        commands_per_increment=round(sum(record.commands.get("lock", {}).values()) / writes, 2),
        sent_per_increment=round(findings.sent / writes, 2),
        processor_ms_per_increment=None if record.processor_s is None else round(1000 * record.processor_s / writes, 3),
        duration_s=round(findings.duration_s, 3),
        replicas=len(record.took_part),
        clocks=record.clocks,
        clock_error_ms=round(clocks.worst_ns / 1e6, 1),
        clock_drift_ppm=None if clocks.drift_ppm is None else (round(clocks.drift_ppm[0], 1), round(clocks.drift_ppm[1], 1)),
    )


def _lost_increments(record: RunRecord, findings: Findings) -> int:
    """Return how many increments are lost. If journals are incomplete, acknowledged requests are counted instead of writes."""
    lost = max(0, findings.account.lost)
    if not doubts(findings) or record.final is None:
        return lost
    return max(lost, findings.outcomes[Outcome.ACKNOWLEDGED] - (record.final - record.start))


def wait_ms(waits_ns: array[int]) -> dict[str, float]:
    """Return the exact median, 99th percentile and maximum of waits, in milliseconds."""
    ordered = sorted(waits_ns) or [0]
    return {
        name: round(ordered[min(len(ordered) - 1, int(len(ordered) * part))] / 1e6, 3)
        for name, part in (("p50", 0.5), ("p99", 0.99), ("max", 1.0))
    }


def _void_reasons(record: RunRecord, findings: Findings) -> Iterator[Fact]:
    if record.ended is not Ending.COMPLETE:
        yield Fact(Code.ENDED, name=record.ended.value, detail=record.ended_with)
    elif record.unwritten:
        yield Fact(Code.UNWRITTEN, detail=record.unwritten)
    if record.in_flight_left:
        yield Fact(Code.STILL_INSIDE)
    yield from doubts(findings)
    yield from _not_on_record(record, findings)
    yield from _not_at_the_store(record, findings)
    if Mechanism.TTL_TOO_SHORT in findings.losses:
        yield Fact(Code.LEASE_TOO_SHORT, ms=findings.run.lease_ms)
    if Mechanism.STOPPED_FROM_OUTSIDE in findings.losses:
        longest_ns, replica = findings.stalls.longest()
        yield Fact(Code.STALLED, ms=round(longest_ns / 1e6), replica=replica)
    if _hardly_ever_free(record, findings):
        yield Fact(Code.HARDLY_EVER_FREE)


def _not_at_the_store(record: RunRecord, findings: Findings) -> Iterator[Fact]:
    """Yield the reasons why the store does not show the lock's commands."""
    if record.reports_off:
        yield Fact(Code.REPORTS_OFF)
    ran = sum(record.commands.get("lock", {}).values())
    if ran and findings.locked and not findings.sent and not findings.renewals:
        yield Fact(Code.UNSEEN_COMMANDS, ran)
    is_local = findings.locked and Claim.exclusive.name in record.stage["claims"]  # the stage has no store
    asked_nobody = not findings.sent and (record.commands.get("lock") == {} if record.has_store else is_local)
    if asked_nobody and findings.account.writes and len(record.took_part) > 1:
        yield Fact(Code.ASKED_NO_STORE)


def _hardly_ever_free(record: RunRecord, findings: Findings) -> bool:
    """Return whether a run cannot show that a lock is free after a fault, because it served nearly no request before."""
    limit_ms = IN_TIME.in_ms(findings.run.ttl_ms)
    is_about_freeing = record.scenario["tests"] in ABOUT_FREEING and bool(findings.faults)
    return is_about_freeing and all(serves_next_to_nobody(fault, findings, limit_ms) for fault in findings.faults)


def _not_on_record(record: RunRecord, findings: Findings) -> Iterator[Fact]:
    """Yield the requests on which the load's record and the journals differ, and the numbers of requests on record and sent."""
    for one in () if findings.is_never_written else findings.first_unwritten:
        yield Fact(Code.NO_WRITE_OF, request=one.request)
    for other in () if findings.is_never_refused else findings.first_refused_and_written:
        yield Fact(Code.WRITE_OF_REFUSED, other.status, request=other.request)
    number = record.scenario["requests"]  # 0: a time, or the user's own load, ended the run
    if number and findings.requests != number and record.ended is Ending.COMPLETE:
        yield Fact(Code.ON_RECORD, findings.requests, of=number)


def _what_was_missing(findings: Findings) -> Iterator[Fact]:
    """Yield the most likely reason why the danger was never reached: too few requests, or too many failures."""
    refused = findings.requests - findings.outcomes[Outcome.ACKNOWLEDGED] - findings.outcomes[Outcome.SOLD_OUT]
    if findings.measures["faults_beside"]:
        yield Fact(Code.FAULT_BESIDE)
    elif not refused:
        yield Fact(Code.TOO_FEW_REQUESTS, findings.requests)
    elif findings.whys:
        ((why, often),) = findings.whys.most_common(1)
        yield Fact(Code.NOT_SERVED_BECAUSE, refused, of=findings.requests, most=often, detail=why)
    else:
        yield Fact(Code.NOT_SERVED_UNKNOWN, refused, of=findings.requests)
        # a stage can end the process that serves its requests
        if (ended := sum(map(len, findings.started_ns.values())) - len(findings.started_ns) - len(findings.faults)) > 0:
            yield Fact(Code.PROCESSES_ENDED, ended)


def _verdict(
    record: RunRecord, findings: Findings, violations: list[Violation], danger: dict[str, Measure], unproved: list[Fact]
) -> tuple[Verdict, list[Fact]]:
    """Return the verdict, and the reasons that are not in its violations."""
    if any(one.breaks_promise for one in violations) and not record.unwritten:
        # if a file could not be written, the rest proves nothing
        return Verdict.BROKEN, list(_not_on_record(record, findings)) if record.ended is Ending.COMPLETE else []
    if void := [*_void_reasons(record, findings), *unproved]:
        return Verdict.VOID, void
    if any(violation.claim == record.scenario["tests"] for violation in violations):
        return Verdict.ADMITTED, []
    short = [Fact(Code.MEASURE_SHORT, one.seen, of=one.needed, name=name) for name, one in danger.items() if not one.reached]
    if short:
        return Verdict.VOID, [Fact(Code.DANGER_NOT_REACHED), *short, *_what_was_missing(findings)]
    return _nothing_broke(record, findings)


def _nothing_broke(record: RunRecord, findings: Findings) -> tuple[Verdict, list[Fact]]:
    """Return the verdict on a promise that no violation broke. If no request was served, nothing was kept."""
    claim = record.scenario["tests"]
    if why := PROMISES[claim].undecided(findings):
        return Verdict.VOID, [why]
    if claim not in record.stage["claims"]:
        return Verdict.UNSEEN, []
    if not findings.outcomes[Outcome.ACKNOWLEDGED]:
        return Verdict.VOID, [Fact(Code.NOBODY_SERVED), *_what_was_missing(findings)]
    return Verdict.KEPT, []


def doubts(findings: Findings) -> list[Fact]:
    """Return every reason to doubt the evidence: damaged files, and accounts that disagree."""
    damages = [Fact(Code.DAMAGED, file=one.file, name=one.kind, detail=one.detail) for one in findings.damage]
    contradict = [Fact(Code.CLOCKS_CONTRADICT)] if findings.run.clocks.contradict else []
    return [*contradict, *damages, *findings.mismatches, *filter(None, [findings.account.disagreement])]


def rests_on_the_key(violation: Violation, findings: Findings) -> bool:
    """Return whether a violation depends on a key that grants name and the store never reported.

    Then the end of a lease, or a theft, may excuse it, because no report shows which request deleted the lock.
    """
    return bool(findings.strange_key) and any(isinstance(one, Loss | TwoInside) for one in violation.evidence)


def missing(folder: Path, record: RunRecord, findings: Findings) -> Iterator[Damage]:
    """Yield damage that no hash shows: files that the run never wrote, faults without a record, and unknown claims.

    findings: the results of reading the run's history.
    """
    for replica in sorted({*record.took_part, *findings.acknowledged_by_replica} - {""}):
        if not (folder / journal_of(replica)).is_file():
            yield Damage(journal_of(replica), DamageKind.MISSING)
    if findings.run.reports_keys and findings.sent and not (folder / KEY_EVENTS).is_file():
        yield Damage(KEY_EVENTS, DamageKind.MISSING)
    recorded = {outcome.record.name for outcome in findings.faults}
    reached = sorted(note.stem for note in (folder / "faults").glob("*.reached"))
    if lost := [name for name in reached if name not in recorded]:
        yield Damage(FAULTS, DamageKind.FAULT_NOT_RECORDED, detail=lost[0])
    unknown = [name for name in (record.scenario["tests"], *record.stage["claims"]) if name not in Claim.__members__]
    if unknown:
        yield Damage(RUN, DamageKind.UNKNOWN_CLAIM, detail=unknown[0])
