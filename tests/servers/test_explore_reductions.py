"""Each reduction of the explorer against the plain search, which folds nothing: both find the same."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from app.locks import stages
from lab.errors import LabError
from lab.evidence.decided import why_not
from lab.explore.code.program import servers_of
from lab.explore.code.replica import NeverWaits
from lab.explore.model import NotExplored
from lab.explore.questions import by_default
from lab.explore.search.event import Budget
from lab.explore.search.transitions import Livelock
from lab.scenario.stages import find_stage
from tests.corpus import CORPUS
from tests.sampled import sampled
from tests.servers.explored import (
    OF_ONE_SERVER,
    PLAIN,
    TTL_MS,
    exploring,
    facts,
    lengths,
    question,
    searched,
    without_symmetry,
    without_unnoticed,
)
from tests.servers.random_locks import bounded, drawn, source

MOST_STATES = 2000  # of a search with reductions: without them it has up to ten times as many
FEW_STATES = 40  # in the ordinary run, and for locks that are not stages
RANDOM = 200
STAGES = [name for name, one in stages().items() if not why_not(one) and servers_of(one) == 1]
SHELF = sorted(CORPUS.glob("*/*.py")) + sorted(CORPUS.glob("trial/*/*.py"))
# the ordinary run: a reentrant stage, a lock with a thread of its own, and two random locks
SAMPLE = {"reentrant"}
EACH = {"reentrant"}  # with each reduction switched off by itself; for other stages, the ordinary run has the largest and all
FOLDED = {"symmetry": OF_ONE_SERVER["symmetry"]}
SAMPLED_LOCKS = {"key_of_the_thread"}
SAMPLED_RANDOM = (100, 150)
SEVERAL = 3  # servers


def compare(explorer, asked, most, switches):
    """Compare with searches without reductions. Return the differences and the states saved; None if the search is too large."""
    whole = searched(explorer, asked, (None, True, {"MOST_STATES": most}))
    if not whole.complete:
        return None
    others = {what: searched(explorer, asked, switch) for what, switch in switches.items()}
    assert all(one.complete for one in others.values())
    differ = [f"{what}: {facts(one)} and with it {facts(whole)}" for what, one in others.items() if facts(one) != facts(whole)]
    return differ, Counter({what: one.states - whole.states for what, one in others.items()})


def all_compared(explorer, most, switches):
    """Compare all questions of a stage that are small enough. Return the number of them, and the states saved."""
    number, saved = 0, Counter()
    for asked in by_default(explorer.stage, TTL_MS):
        found = compare(explorer, asked, most, switches)
        if found is not None:
            differ, fewer = found
            assert not differ, asked
            number, saved = number + 1, saved + fewer
    return number, saved


@pytest.mark.parametrize(
    ("name", "most", "switches"),
    [pytest.param(one, FEW_STATES, OF_ONE_SERVER if one in EACH else FOLDED, id=one) for one in STAGES if one in SAMPLE]
    + [pytest.param(one, MOST_STATES, OF_ONE_SERVER, marks=pytest.mark.trial, id=f"{one} whole") for one in STAGES],
)
def test_each_reduction_on_a_stage(name, most, switches, real):
    """Without one reduction, and without all, there are as many schedules, and the same claims break as soon and as often."""
    with exploring(real, name) as explorer:
        number, saved = all_compared(explorer, most, {**switches, "all": PLAIN})

    assert number > 0
    assert saved["all"] >= saved["symmetry"] > 0


LARGE = {"bakery"}  # of which each search has too many states


@pytest.mark.parametrize("path", sampled(SHELF, [one for one in SHELF if one.stem in SAMPLED_LOCKS]), ids=lambda path: path.stem)
def test_all_reductions_on_a_lock(path, real):
    """For a lock of the corpus in one Redis server, a search without reductions finds the same."""
    stage = find_stage(str(path))
    if why_not(stage) or servers_of(stage) > 1:
        return  # the explorer does not explore its store, or it has several servers
    try:
        with exploring(real, path) as explorer:
            number, _ = all_compared(explorer, FEW_STATES, {"all": PLAIN})
    except (NotExplored, NeverWaits, Livelock, LabError):
        return  # the explorer refuses it, with the reason

    assert number > 0 or path.stem in LARGE


PLANS = list(dict.fromkeys(bounded(drawn(number)) for number in range(20 * RANDOM)))[:RANDOM]
FAULTS = [Budget(), *(Budget(**{name: 1}) for name in Budget._fields)]


@pytest.mark.parametrize("number", sampled(range(len(PLANS)), SAMPLED_RANDOM))
def test_all_reductions_on_a_random_lock(number, real, tmp_path):
    """For a small random lock, with each fault and two or three clients, a search without reductions finds the same."""
    own = tmp_path / "random_lock.py"
    own.write_text(source(PLANS[number]), encoding="utf-8")
    chance = random.Random(number)

    with exploring(real, own) as explorer:
        compared = [
            compare(explorer, question(budget, clients), 10 * FEW_STATES, {"all": PLAIN})
            for clients, budgets in ((2, FAULTS), (3, [Budget(), chance.choice(FAULTS)]))
            for budget in budgets
        ]

    assert all(one is None or not one[0] for one in compared), PLANS[number]
    assert any(compared)


OF_SEVERAL = {
    "alike": (without_symmetry, True, {}),
    "unnoticed": (without_unnoticed, True, {}),
    "all": PLAIN,
}


@pytest.mark.trial
@pytest.mark.parametrize("budget", [Budget(), Budget(crashes=1), Budget(restarts=1)], ids=str)
def test_reductions_of_several_servers(budget, real):
    """Folded servers and left-out orders hide no broken claim; folding servers alone does not change the number of schedules."""
    with exploring(real, "redlock", SEVERAL) as explorer:
        whole = searched(explorer, question(budget))
        others = {what: searched(explorer, question(budget), switch) for what, switch in OF_SEVERAL.items()}

    assert whole.complete
    assert all(one.complete for one in others.values())
    assert {what: lengths(one) for what, one in others.items()} == dict.fromkeys(others, lengths(whole))
    assert facts(others["unnoticed"]) == facts(others["all"])
    assert all(whole.states < one.states for what, one in others.items() if what != "unnoticed" or not budget.restarts), {
        what: one.states for what, one in others.items()
    }
