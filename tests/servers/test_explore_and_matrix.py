"""The explorer and the matrix agree wherever both can speak: a contradiction is a bug of one of them."""

from __future__ import annotations

from collections import defaultdict
from time import monotonic

import pytest

from app.lock import Claim
from app.locks import stage, stages
from lab.commands.explore import redis_server
from lab.experiments.matrix import expectations
from lab.explore import decision
from lab.explore.budget import Budget
from lab.explore.decision import horizon_ms, questions
from lab.explore.program import Program
from lab.explore.search import search
from lab.explore.server_table import ServerTable
from lab.explore.unexplored import why_not
from lab.explore.votes import servers_of
from lab.explore.world import World
from lab.report import reference
from lab.scenario import scenario

TTL_MS = 3000
WITHIN_S = 120.0
SINGLE_FAULTS = 7  # the first questions: no fault, work that outlasts the TTL, one fault of each kind
FEW = {"none": 1, "local": 1, "incr": 1, "setnx_no_else": 3, "bucketed": 2}  # of how many claims both speak; 10 elsewhere
EXPLORED = [name for name, one in stages().items() if not why_not(one)]


@pytest.fixture(scope="module")
def real():
    """A Redis server for the explorer alone."""
    with redis_server() as server:
        yield server


def decided(name, real, clients, only=tuple(Claim)):
    """Return for each claim whether it holds in all schedules, without a fault and with one."""
    worlds, tables, holds = {}, (ServerTable(real), ServerTable(real)), {}
    for one in questions(clients, TTL_MS, None, None)[:SINGLE_FAULTS]:
        asked = [claim for claim in decision.tested(one.budget, one.work_ms, TTL_MS, servers_of(stage(name))) if claim in only]
        if not asked or all(holds.get(claim.name) is False for claim in only):
            continue
        if one.work_ms not in worlds:
            worlds[one.work_ms] = World(program(name, one.work_ms, real), clients, *tables, alike=True, reduced=True)
        until_ms = horizon_ms(clients, TTL_MS, one.work_ms)
        found = search(worlds[one.work_ms], one.budget, until_ms, monotonic() + WITHIN_S, fold=True)
        assert found.complete
        holds |= {claim.name: False for claim in found.broken}
        if Claim.exclusive not in found.broken:  # without it, the other claims mean nothing
            holds |= {claim.name: holds.get(claim.name, True) for claim in asked}
    for world in worlds.values():
        world.close()
    return holds | reenters(name, real, clients) if Claim.reentrant in only else holds


def program(name, work_ms, real, nested=False):
    """Return the stage as a program. Three servers show what five do, and sooner."""
    return Program(stage(name), TTL_MS, work_ms, real, nested, servers=min(3, servers_of(stage(name))))


def reenters(name, real, clients):
    """Return whether `reentrant` holds in all schedules of requests that take the lock twice."""
    world = World(
        program(name, 0, real, nested=True),
        clients,
        ServerTable(real),
        ServerTable(real),
        alike=True,
        reduced=True,
    )
    found = search(world, Budget(), horizon_ms(clients, TTL_MS, 0), monotonic() + WITHIN_S, fold=True)
    world.close()
    assert found.complete
    return {"reentrant": Claim.reentrant not in found.broken}


def verdicts(name):
    """Return for each claim the cells of the stage: the scenario, and whether the claim was kept or must be."""
    tests = {one: scenario.load(one).tests.name for one in scenario.names()}
    found = defaultdict(list)
    for (under, of), verdict in expectations().items():
        if of == name and verdict and under in tests:
            found[tests[under]].append((f"{under} as expected", verdict == "KEPT"))
    for cell in reference.cells():
        if cell.stage == name and cell.verdict in ("KEPT", "BROKEN", "ADMITTED"):
            found[cell.claim].append((f"{cell.scenario} as measured", cell.verdict == "KEPT"))
    return found


@pytest.mark.parametrize("name", EXPLORED)
def test_agree(name, real):
    """A claim that was broken in a run is broken by an order of events; a claim that was kept is broken by none."""
    kept = verdicts(name)
    holds = {claim: held for claim, held in decided(name, real, 2).items() if claim in kept}
    missed = {claim for claim, held in holds.items() if held and not all(was_kept for _, was_kept in kept[claim])}
    if missed:  # by two clients; a run has many
        holds |= decided(name, real, 3, [Claim[claim] for claim in missed])

    contradictions = [
        f"{claim}: {where}, {'kept' if was_kept else 'broken'}"
        for claim, held in holds.items()
        for where, was_kept in kept[claim]
        if claim in holds and was_kept != held
    ]
    assert not contradictions
    assert len(holds) >= FEW.get(name, 10)
