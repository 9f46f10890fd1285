"""Run one schedule on a cluster: start it, run the events, judge the run, and compare it with the explorer's."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from app.lock import Claim, Stage
from lab.commands.options import command_line
from lab.explore.code.program import RETRY_MS
from lab.explore.enact.controller import Controller
from lab.explore.enact.enactment import Enactment
from lab.explore.enact.faults import Injected, phase_of
from lab.explore.questions import Question
from lab.explore.search.event import short
from lab.explore.search.harm import Finding, Harm
from lab.explore.search.replay import Walk
from lab.pipeline import Conducted, conduct
from lab.scenario.scenario import Scenario
from lab.servers.cluster import cluster
from lab.servers.supervisor import Supervisor

TRIES = 3
AFTERWARDS_MS = 4000  # longer than the claims allow a lock to stay locked beyond its TTL, and the time of the events


class Agreement(StrEnum):
    """The results of comparing a run on real replicas with the explorer's run of the same schedule."""

    AGREES = "agrees"  # all commands and replies were equal, and the judge measures the same harm
    DIFFERS = "differs"  # a command or a reply was different: only this withdraws a finding
    NOT_COMPARABLE = "not_comparable"  # the lab could not hold a command, or the judge cannot measure the harm


LOCKED = Harm.STUCK, Harm.LOCKED, Harm.ASLEEP, Harm.NOT_FREED


class Enacted(NamedTuple):
    """The result of a schedule on the cluster."""

    conducted: Conducted
    agreement: Agreement
    # the explorer's findings of the claim
    explored: Sequence[Finding] = ()
    # the event at which the cluster differed, or could not be held
    difference: str = ""

    @property
    def judged(self) -> list[str]:
        """Return the names of all claims that the judge has found broken."""
        return [violation.claim for violation in self.conducted.judgement.violations]


def enact(supervisor: Supervisor, stage: Stage, question: Question, claim: Claim, walk: Walk) -> Enacted:
    """Start a cluster, run the schedule there, judge the run, and return the result. Raises as ``lab.run.runner.run`` does.

    question: the task of the requests. claim: the claim that the schedule breaks. walk: the explorer's run of the schedule.
    If the cluster does not agree, it is tried again: on a busy machine a key can expire too early, or a request give up.
    """
    done = _enact(supervisor, stage, question, claim, walk)
    for _ in range(1, TRIES):
        if done.agreement is Agreement.AGREES:
            break
        done.conducted.folder.discard()
        done = _enact(supervisor, stage, question, claim, walk)
    return done


def _enact(supervisor: Supervisor, stage: Stage, question: Question, claim: Claim, walk: Walk) -> Enacted:
    events, task = [move.event for move in walk.moves], question.task
    injected = Injected(events, [phase_of(walk.world, move) for move in walk.moves], task.ttl_ms)
    scenario = Scenario(
        name="replay",
        title=f"The schedule {short(events)}",
        tests=claim,
        faults=tuple(injected.faults),
        danger={"faults": len(injected.faults)} if injected.faults else {},
        requests=question.replicas,
        users=question.replicas,
        replicas=question.replicas,
        ttl_ms=task.ttl_ms if stage.ttl_ms else None,
        wait_ms=(walk.moves[-1].state if walk.moves else walk.start).now_ms + task.ttl_ms + AFTERWARDS_MS,
        retry_ms=RETRY_MS,
        work_ms=task.work_ms,
    )
    controller = Controller()
    drive = Enactment(walk, controller, injected, scenario.request_timeout_s)
    bring_up = partial(cluster, steps=controller.address)
    done = conduct(supervisor, stage, scenario, drive, command_line(), bring_up=bring_up, drive_injects=True)
    if drive.difference:
        return Enacted(done, Agreement.DIFFERS if drive.is_held else Agreement.NOT_COMPARABLE, difference=drive.difference)
    findings = list(dict.fromkeys(finding for move in walk.moves for finding in move.findings if finding.claim is claim))
    compared = Enacted(done, Agreement.AGREES, findings)
    return compared if _is_measured(compared) else compared._replace(agreement=Agreement.NOT_COMPARABLE)


def _is_measured(run: Enacted) -> bool:
    """Return whether the judge confirms the explorer: it finds a broken claim as well, or it measures the harm."""
    if run.judged:
        return True
    harms, findings = {finding.harm for finding in run.explored}, run.conducted.findings
    return (Harm.THEFT in harms and bool(findings.thefts)) or (not harms.isdisjoint(LOCKED) and findings.gave_up > 0)
