"""The explorer against a brute force, which runs each schedule by itself: as many, and as many that break each claim."""

from __future__ import annotations

from itertools import product

import pytest

from lab.explore.code.program import Program
from lab.explore.search.event import Budget
from tests.sampled import sampled
from tests.servers.brute_force import LOST_ONE, OF_RESTARTS, BruteForce
from tests.servers.explored import exploring, loses, question, searched
from tests.servers.random_locks import bounded, drawn, source

# the claims that the brute force judges: who may work, and whose lock is deleted
OF_HOLDERS = {
    "exclusive",
    "counts_once",
    "releases_only_its_own",
    "releases_atomically",
    "held_to_the_end",
    "survives_a_freeze",
    "survives_a_late_freeze",
    "survives_a_slow_acquire",
    OF_RESTARTS,
}
FAULTS = [Budget(), *(Budget(**{name: 1}) for name in Budget._fields)]
LONG = {"work_ms": 5000, "nap_ms": 700}
STAGES = [
    "none",
    "setnx",
    "setnx_expire",
    "ttl",
    "uuid",
    "lua",
    "reentrant",
    "request_owner",
    "watchdog",
    "watchdog_abort",
    "fencing",
]
QUESTIONS = {
    **{str(one): question(one) for one in FAULTS},
    "long work": question(**LONG),
    "long work that fails": question(Budget(failures=1), **LONG),
    "three clients": question(replicas=3),
}
SAMPLE = [  # the questions with few schedules
    *((name, "no fault") for name in STAGES),
    *((name, "long work") for name in ("ttl", "uuid")),
    *((name, what) for name in ("setnx", "uuid") for what in ("1 crash", "1 lost reply", "1 command sent twice")),
    *((name, "1 failure of the work") for name in ("setnx", "lua")),
    *((name, "long work that fails") for name in ("ttl", "lua")),
    ("none", "1 pause"),
]
RANDOM, SAMPLED_RANDOM = 200, (40, 170)  # some hundred schedules each


# clients, faults: schedules, as an earlier brute force has counted them, which had no code of a stage and no Redis
TOTALS = {
    ("lua", 2, "pauses"): 816,
    ("lua", 2, "crashes"): 78,
    ("lua", 3, "pauses"): 247_308,
    ("lua", 3, "crashes"): 5688,
    ("uuid", 2, "pauses"): 1552,
    ("uuid", 2, "crashes"): 118,
    ("uuid", 3, "pauses"): 786_444,
    ("uuid", 3, "crashes"): 12_900,
    ("ttl", 2, "pauses"): 816,
    ("ttl", 3, "pauses"): 413_700,
    ("lua", 3, ""): 456,
    ("uuid", 3, ""): 870,
}


@pytest.mark.parametrize(
    ("name", "clients", "fault"), sampled(TOTALS, [one for one, number in TOTALS.items() if number < 100_000])
)
def test_number_of_schedules(name, clients, fault, real):
    """The number of schedules is that of an interpreter of three locks, which shares no line with the explorer."""
    with exploring(real, name) as explorer:
        found = searched(explorer, question(Budget(**{fault: 1} if fault else {}), clients))

    assert found.complete
    assert found.schedules == TOTALS[name, clients, fault]


def both(real, explorer, asked):
    """Return what the search and the brute force count: schedules, those that are cut, and those that break each claim."""
    found = searched(explorer, asked)
    alone = BruteForce(real, Program(explorer.stage, asked.task), asked)
    claims = {claim.name: one.schedules for claim, one in found.broken.items() if claim.name in OF_HOLDERS}
    mine = {claim: number for claim, number in alone.breaking.items() if claim != LOST_ONE}
    return found, alone, claims, mine


@pytest.mark.parametrize(("name", "what"), sampled(product(STAGES, QUESTIONS), SAMPLE))
def test_as_many_one_by_one(name, what, real):
    """Each schedule run by itself, by another loop: as many of them, as many cut at the horizon, as many break each claim."""
    with exploring(real, name) as explorer:
        found, alone, claims, mine = both(real, explorer, QUESTIONS[what])

    assert found.complete
    assert (found.schedules, found.cut) == (alone.schedules, alone.cut)
    if not QUESTIONS[what].budget.resends:  # what a second copy does is charged to the fault
        assert claims == mine
    assert found.schedules > 1


PLANS = list(dict.fromkeys(bounded(drawn(number)) for number in range(20 * RANDOM)))[:RANDOM]


@pytest.mark.parametrize("number", sampled(range(len(PLANS)), SAMPLED_RANDOM))
def test_a_random_lock_one_by_one(number, real, tmp_path):
    """A small random lock, most often wrong: as many schedules, as many in which an increment is lost, as many cut."""
    own = tmp_path / "random_lock.py"
    own.write_text(source(PLANS[number]), encoding="utf-8")

    with exploring(real, own) as explorer:
        found, alone, _, _ = both(real, explorer, question())
        lost = loses(found)

    assert (found.schedules, found.cut, lost) == (alone.schedules, alone.cut, alone.breaking[LOST_ONE]), PLANS[number]
