"""One schedule on a cluster, as a run: brought up, enacted, judged, and compared with what the explorer saw."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from app.lock import Claim, Stage
from lab.enact.controller import Controller
from lab.enact.enactment import Enactment, ScheduleScript
from lab.enact.faults import Injected
from lab.explore.as_scenario import places
from lab.explore.code.program import RETRY_MS
from lab.explore.decision import Explorer
from lab.explore.schedule import Schedule
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.move import Move
from lab.explore.search.replay import walk_live
from lab.pipeline import Conducted, conduct
from lab.scenario.scenario import Scenario
from lab.servers.cluster import cluster
from lab.servers.supervisor import Supervisor
from lab.story import say
from lab.story.deeds import of_finding
from lab.story.verdict import seen
from lab.text import counted

TRIES = 3
AFTERWARDS_MS = 4000  # longer than the claims allow a lock to stay locked beyond its TTL, and the time of the events


class Enacted(NamedTuple):
    """What came of a schedule on the cluster."""

    conducted: Conducted
    # whether the cluster showed what the explorer saw
    same: bool
    # the same in words: where it differed, or what both saw
    sentence: str
    # whether each command and each reply was that of the explorer
    followed: bool


def script_of(explorer: Explorer, schedule: Schedule) -> ScheduleScript:
    """Return what the explorer sees at each event of a schedule. Raises NotPossible."""
    world = explorer.world(schedule.task, schedule.clients)
    walk = walk_live(world, schedule.parsed, schedule.until_ms)
    return ScheduleScript(walk.world, walk.start, walk.moves, tuple(explorer.real.scripts.values()))


def enact(supervisor: Supervisor, stage: Stage, schedule: Schedule, script: ScheduleScript, command: str) -> Enacted:
    """Bring up a cluster, go through the schedule there, and judge the run. Raises as ``lab.run.runner.run`` does.

    Where the cluster differs, it is tried again: on a busy machine a key can expire too early. The sentence states how often.
    """
    done = _enact(supervisor, stage, schedule, script, command)
    for number in range(2, TRIES + 1):
        if done.followed:
            break
        done.conducted.folder.discard()
        done = _enact(supervisor, stage, schedule, script, command)
        done = done._replace(sentence=f"{done.sentence} (try {number} of at most {TRIES})")
    return done


def _enact(supervisor: Supervisor, stage: Stage, schedule: Schedule, script: ScheduleScript, command: str) -> Enacted:
    events = [move.event for move in script.moves]
    phases = [at.phase for at in places(script)]
    injected = Injected(events, phases, schedule.ttl_ms)
    claim = _claim(schedule, script.moves)
    scenario = Scenario(
        name="replay",
        title=f"The schedule {schedule.events}",
        tests=claim,
        faults=tuple(injected.faults),
        danger={"faults": len(injected.faults)} if injected.faults else {},
        requests=schedule.clients,
        users=schedule.clients,
        replicas=schedule.clients,
        ttl_ms=schedule.ttl_ms if stage.ttl_ms else None,
        wait_ms=(script.moves[-1].state if script.moves else script.start).now_ms + schedule.ttl_ms + AFTERWARDS_MS,
        retry_ms=RETRY_MS,
        work_ms=schedule.work_ms,
    )
    controller = Controller()
    drive = Enactment(script, controller, injected, scenario.request_timeout_s)
    bring_up = partial(cluster, steps=controller.address)
    done = conduct(supervisor, stage, scenario, drive, command, bring_up=bring_up, drive_injects=True)
    if drive.difference:
        return Enacted(done, False, f"it differs at {drive.difference}", False)
    return _compared(done, claim, script.moves)


def _claim(schedule: Schedule, moves: Sequence[Move]) -> Claim:
    """Return the claim that the schedule breaks: the file's, or that of the last event which breaks one."""
    if schedule.claim in Claim.__members__:
        return Claim[schedule.claim]
    return next((finding.claim for move in reversed(moves) for finding in move.found), Claim.exclusive)


def _compared(done: Conducted, claim: Claim, moves: Sequence[Move]) -> Enacted:
    """Compare what the judge found with what the explorer found."""
    found = list(dict.fromkeys(finding for move in moves for finding in move.found if finding.claim is claim))
    if not found:
        return Enacted(
            done, not done.judgement.violations, "each command and each reply was the same, and nothing was to break", True
        )
    how = dict.fromkeys(say.broken(of_finding(one)) for one in found)
    explored = f"{claim.name}: {'; '.join(how)}"
    judged = [one for one in done.judgement.violations if one.claim == claim.name]
    if judged:
        lost = f", {counted(done.judgement.lost, 'increment')} lost" if done.judgement.lost else ""
        saw = "; ".join(f"{seen(one)}: {say.mechanism(one.mechanism)}" for one in judged)
        return Enacted(done, True, f"same {'loss' if lost else 'harm'}: {explored} (the judge: {saw}{lost})", True)
    others = ", ".join(one.claim for one in done.judgement.violations)
    if _has(found, Harm.THEFT) and done.findings.thefts:
        also = f"what was lost breaks {others}" if others else "it destroyed no increment of the others"
        return Enacted(done, True, f"same theft: {explored} ({also})", True)
    if _has(found, Harm.STUCK, Harm.LOCKED, Harm.ASLEEP) and done.findings.gave_up and not others:
        waited = counted(done.findings.gave_up, "request")
        return Enacted(
            done, True, f"same harm: {explored} ({waited} waited in vain; the judge has no claim for this fault)", True
        )
    sentence = f"same commands and replies, but the judge finds {others or 'no claim'} broken, and the explorer {explored}"
    return Enacted(done, False, sentence, True)


def _has(found: Sequence[Finding], *harms: Harm) -> bool:
    return any(one.harm in harms for one in found)
