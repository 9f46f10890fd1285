"""The explorer and the matrix agree about each claim that both decide: a contradiction is an error in one of them."""

from __future__ import annotations

from collections import defaultdict

import pytest

from app.lock import Claim
from app.locks import stage, stages
from lab.evidence import decided as kept
from lab.evidence.decided import why_not
from lab.experiments.matrix import expectations
from lab.explore.code.program import Task, servers_of
from lab.explore.questions import Question, by_default, seldom_ms
from lab.explore.store.real_redis import redis_server
from lab.report import reference
from lab.scenario import reader
from tests.servers.explored import exploring

TTL_MS = 3000
WITHIN_S = 10.0
THREE = 3  # servers show the same as five, and sooner
# the least number of claims that both decide; 10 for the other stages
FEW = {
    "none": 1,
    "local": 1,
    "incr": 1,
    "setnx_no_else": 3,
    "bucketed": 2,
    "redlock_cohort": 9,
}
EXPLORED = [name for name, one in stages().items() if not why_not(one)]


# lab explore --clients 1 --requests 3: too long for a default search
OF_ONE_PROCESS = Question(Task(TTL_MS, nap_ms=seldom_ms(TTL_MS), at_once=3), replicas=1, needed=False)
BY_THREE = {("setnx_no_else", "exclusive_in_process")}  # only that search breaks it, and it is not kept


def known(name, needed, only=tuple(Claim)):
    """Return by claim whether it holds in the kept searches. needed: in those that a promise needs, or in the rest."""
    decision, holds = kept.current(stage(name)), {}
    assert decision is not None, f"the code has changed: .venv/bin/lab explore {name} --keep"
    for one in decision.searches:
        if one["needed"] is needed:
            holds |= dict.fromkeys(one.get("breaks", ()), False)
            holds |= {claim: holds.get(claim, True) for claim in one.get("holds", ()) if Claim[claim] in only}
    return {claim: held for claim, held in holds.items() if (name, claim) not in BY_THREE}


def anew(name, needed, only=tuple(Claim)):
    """Return the same from searches that are made now."""
    servers, holds = servers_of(stage(name)), {}
    with redis_server() as real, exploring(real, name, THREE if servers > 1 else None) as explorer:
        for one in (*by_default(stage(name), TTL_MS), *([OF_ONE_PROCESS] if servers == 1 else [])):
            asked = [claim for claim in one.tests(servers) if claim in only]
            if one.needed is not needed or not asked or all(holds.get(claim.name) is False for claim in asked):
                continue
            answer = explorer.answer(one, WITHIN_S)
            broken = answer.result.broken if answer.result is not None else {}
            holds |= {claim.name: False for claim in broken}
            if answer.is_decided and Claim.exclusive not in broken:  # if it is broken, the other claims mean nothing
                holds |= {claim.name: holds.get(claim.name, True) for claim in asked}
    return holds


def verdicts(name):
    """Return by claim the cells of a stage: the scenario, and whether the claim was kept or is expected to be."""
    tests = {one: reader.load(one).tests.name for one in reader.names()}
    found = defaultdict(list)
    for (under, of), verdict in expectations().items():
        if of == name and verdict and under in tests:
            found[tests[under]].append((f"{under} as expected", verdict == "KEPT"))
    for cell in reference.cells():
        if cell.stage == name and cell.verdict in ("KEPT", "BROKEN", "ADMITTED"):
            found[cell.claim].append((f"{cell.scenario} as measured", cell.verdict == "KEPT"))
    return found


@pytest.mark.parametrize("name", EXPLORED)
def test_agree(name):
    """A claim that was broken in a run is broken by an order of events; a claim that was kept is broken by none."""
    hold(name, known)


@pytest.mark.trial
@pytest.mark.parametrize("name", EXPLORED)
def test_agree_anew(name):
    """The same is true if the stage is decided again."""
    hold(name, anew)


def hold(name, answers) -> None:
    """Compare the cells of a stage with its decision. answers: ``known`` or ``anew``."""
    measured = verdicts(name)
    holds = {claim: held for claim, held in answers(name, needed=True).items() if claim in measured}
    missed = {claim for claim, held in holds.items() if held and not all(was_kept for _, was_kept in measured[claim])}
    if missed:  # these searches have two clients and one fault; a run has many
        more = answers(name, needed=False, only=[Claim[claim] for claim in missed])
        holds |= {claim: held for claim, held in more.items() if not held and claim in missed}

    contradictions = [
        f"{claim}: {where}, {'kept' if was_kept else 'broken'}"
        for claim, held in holds.items()
        for where, was_kept in measured[claim]
        if claim in holds and was_kept != held
    ]
    assert not contradictions
    assert len(holds) >= FEW.get(name, 10)
