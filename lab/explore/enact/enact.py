"""One schedule on a cluster, as a run: brought up, enacted, judged, and compared with what the explorer saw."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from app.lock import Claim, Stage
from lab.explore.code.program import RETRY_MS
from lab.explore.decision import Explorer
from lab.explore.enact.controller import Controller
from lab.explore.enact.enactment import Enactment, ScheduleScript
from lab.explore.enact.faults import Injected, phases
from lab.explore.schedule import Schedule
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.move import Move
from lab.explore.search.replay import walk_live
from lab.judge.judgement import Violation
from lab.pipeline import Conducted, conduct
from lab.scenario.scenario import Scenario
from lab.servers.cluster import cluster
from lab.servers.supervisor import Supervisor

TRIES = 3
AFTERWARDS_MS = 4000  # longer than the claims allow a lock to stay locked beyond its TTL, and the time of the events


class Agreement(StrEnum):
    """How the run of a schedule compares with what the explorer saw."""

    DIFFERS = "differs"  # a command or a reply was another
    NOT_HELD = "not_held"  # the lab could not hold a command, as of a client of asyncio, or several that are sent at once
    # below, each command and each reply was that of the explorer
    NOTHING = "nothing"  # nothing was to break, and nothing broke
    LOSS = "loss"  # the judge finds the claim broken, and increments lost
    HARM = "harm"  # the judge finds the claim broken
    THEFT = "theft"  # the judge saw the theft, but no increment that it destroyed
    THEFT_AND_LOSS = "theft_and_loss"  # the judge saw the theft, and finds other claims broken by what was lost
    IN_VAIN = "in_vain"  # requests waited in vain; no claim of the judge is about this fault
    UNJUDGED = "unjudged"  # no request waited, and no claim of the judge is about a lock that stays locked then
    NAMED_OTHERWISE = "named_otherwise"  # the judge finds another claim broken by what happened
    OTHERWISE = "otherwise"  # the judge finds nothing broken, or something that the explorer does not


NOT_THE_SAME = Agreement.DIFFERS, Agreement.NOT_HELD, Agreement.OTHERWISE
LOCKED = Harm.STUCK, Harm.LOCKED, Harm.ASLEEP, Harm.NOT_FREED


class Enacted(NamedTuple):
    """What came of a schedule on the cluster."""

    conducted: Conducted
    agreement: Agreement
    # what the explorer saw broken: one claim
    explored: Sequence[Finding] = ()
    # the event at which the cluster differed
    difference: str = ""
    # how often it was tried, until the cluster followed
    tries: int = 1

    @property
    def same(self) -> bool:
        """Whether the cluster showed what the explorer saw."""
        return self.agreement not in NOT_THE_SAME

    @property
    def judged(self) -> list[Violation]:
        """What the judge found of the claim that the explorer saw broken."""
        claims = {finding.claim.name for finding in self.explored}
        return [one for one in self.conducted.judgement.violations if one.claim in claims]

    @property
    def others(self) -> list[str]:
        """The claims that the judge found broken."""
        return [one.claim for one in self.conducted.judgement.violations]


def script_of(explorer: Explorer, schedule: Schedule) -> ScheduleScript:
    """Return what the explorer sees at each event of a schedule. Raises NotPossible."""
    world = explorer.world(schedule.task, schedule.clients)
    walk = walk_live(world, schedule.parsed, schedule.until_ms)
    return ScheduleScript(walk.world, walk.start, walk.moves, tuple(explorer.real.scripts.values()))


def enact(supervisor: Supervisor, stage: Stage, schedule: Schedule, script: ScheduleScript, command: str) -> Enacted:
    """Bring up a cluster, go through the schedule there, and judge the run. Raises as ``lab.run.runner.run`` does.

    Where the cluster differs, it is tried again: on a busy machine a key can expire too early.
    """
    done = _enact(supervisor, stage, schedule, script, command)
    for number in range(2, TRIES + 1):
        if done.agreement is not Agreement.DIFFERS:
            break
        done.conducted.folder.discard()
        done = _enact(supervisor, stage, schedule, script, command)._replace(tries=number)
    return done


def _enact(supervisor: Supervisor, stage: Stage, schedule: Schedule, script: ScheduleScript, command: str) -> Enacted:
    events = [move.event for move in script.moves]
    injected = Injected(events, list(phases(script)), schedule.ttl_ms)
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
        return Enacted(done, Agreement.DIFFERS if drive.is_held else Agreement.NOT_HELD, difference=drive.difference)
    return _compared(done, claim, script.moves)


def _claim(schedule: Schedule, moves: Sequence[Move]) -> Claim:
    """Return the claim that the schedule breaks: the file's, or that of the last event which breaks one."""
    if schedule.claim in Claim.__members__:
        return Claim[schedule.claim]
    return next((finding.claim for move in reversed(moves) for finding in move.found), Claim.exclusive)


def _compared(done: Conducted, claim: Claim, moves: Sequence[Move]) -> Enacted:
    """Compare what the judge found with what the explorer found."""
    found = list(dict.fromkeys(finding for move in moves for finding in move.found if finding.claim is claim))
    enacted = Enacted(done, Agreement.OTHERWISE, found)
    return enacted._replace(agreement=_agreement(enacted))


def _agreement(one: Enacted) -> Agreement:
    findings = one.conducted.findings
    if not one.explored:
        return Agreement.OTHERWISE if one.others else Agreement.NOTHING
    if one.judged:
        return Agreement.LOSS if one.conducted.judgement.lost else Agreement.HARM
    if _has(one.explored, Harm.THEFT) and findings.thefts:
        return Agreement.THEFT_AND_LOSS if one.others else Agreement.THEFT
    if _has(one.explored, *LOCKED) and not one.others:
        return Agreement.IN_VAIN if findings.gave_up else Agreement.UNJUDGED
    return Agreement.NAMED_OTHERWISE if one.others else Agreement.OTHERWISE


def _has(found: Sequence[Finding], *harms: Harm) -> bool:
    return any(one.harm in harms for one in found)
