"""The explorer on random small locks: an independent search finds the same, and so does one that neither folds nor merges."""

from __future__ import annotations

from collections import deque
from time import monotonic

import pytest

from lab.commands.explore import redis_server
from lab.explore.budget import Budget
from lab.explore.program import Program
from lab.explore.search import search
from lab.explore.server_table import ServerTable
from lab.explore.world import World
from lab.scenario.stages import find_stage
from tests.servers.random_locks import LOST, STOLEN, STUCK, OneByOne, bounded, drawn, source

TTL_MS, UNTIL_MS = 3000, 1_000_000
MECHANISMS = {
    "an increment was lost": LOST,
    "a release deleted the lock of another holder": STOLEN,
    "a request waits for ever": STUCK,
}
PROGRAMS, EACH = 200, 3  # all were compared once; here each third, from the third on: among them is one that waits for ever
# clients, faults, programs: with two clients, 200 of each were compared once; with three, a program takes seconds
FOLDED = [(2, Budget(pauses=1), 10), (2, Budget(crashes=1), 10), (2, Budget(lost_replies=1), 10), (3, Budget(), 2)]


@pytest.fixture(scope="module")
def real():
    """A Redis server for the explorer alone."""
    with redis_server() as server:
        yield server


@pytest.fixture(scope="module")
def plans():
    """The plans of all programs, each once."""
    return list(dict.fromkeys(bounded(drawn(number)) for number in range(10 * PROGRAMS)))[EACH - 1 : PROGRAMS : EACH]


def world_of(plan, clients, real, folder, merge=False):
    path = folder / f"random_{abs(hash(plan))}.py"
    path.write_text(source(plan), encoding="utf-8")
    return World(Program(find_stage(str(path)), TTL_MS, 0, real), clients, ServerTable(real), ServerTable(real), merge)


def shortest(world, found):
    """Return how many events it takes at least to each mechanism, from the graph."""
    depth, todo, lengths = {found.start: 0}, deque([found.start]), {}
    while todo:
        state = todo.popleft()
        moves = found.graph[state]
        stuck = world.stuck(state, found.budget, UNTIL_MS) if not moves else None
        for finding, after in [*((one, 1) for move in moves for one in move.found), *([(stuck, 0)] if stuck else [])]:
            name = next((name for words, name in MECHANISMS.items() if finding.mechanism.startswith(words)), None)
            if name:
                lengths[name] = min(depth[state] + after, lengths.get(name, UNTIL_MS))
        for move in moves:
            if move.state not in depth:
                depth[move.state] = depth[state] + 1
                todo.append(move.state)
    return lengths


def test_same_as_one_by_one(real, plans, tmp_path):
    """The number of schedules is the same, and so is the shortest schedule to each harm, for 66 programs."""
    broken = set()
    for plan in plans:
        world = world_of(plan, 2, real, tmp_path)
        found = search(world, Budget(), UNTIL_MS, monotonic() + 600, fold=True)
        alone = OneByOne(plan, 2)

        assert (found.schedules, shortest(world, found)) == (alone.schedules, alone.shortest), plan
        broken |= alone.shortest.keys()
        world.close()
    assert broken == {LOST, STOLEN, STUCK}


def claims(found):
    return {claim.name: (len(one.events), one.schedules) for claim, one in found.broken.items()}


@pytest.mark.parametrize(("clients", "budget", "programs"), FOLDED, ids=str)
def test_reductions_are_harmless(clients, budget, programs, real, plans, tmp_path):
    """With clients folded, with histories merged, and without: as many schedules, the same claims, as short, as often broken."""
    fewer = {"folded": 0, "merged": 0}
    for plan in plans[:programs]:
        world, merging = (world_of(plan, clients, real, tmp_path, merge) for merge in (False, True))
        searches = [(world, False), (world, True), (merging, True)]
        whole, folded, merged = (search(one, budget, 2 * UNTIL_MS, monotonic() + 600, fold=fold) for one, fold in searches)

        assert (folded.schedules, claims(folded)) == (whole.schedules, claims(whole)), plan
        assert (merged.schedules, claims(merged)) == (whole.schedules, claims(whole)), plan
        fewer["folded"] += whole.states - folded.states
        fewer["merged"] += folded.states - merged.states
        for one in (world, merging):
            one.close()
    assert min(fewer.values()) > 0, fewer
