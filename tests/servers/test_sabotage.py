"""Stages that are wrong on purpose are condemned, each by its mechanism; sound ones never are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import run

SABOTAGE = Path(__file__).with_name("sabotage")
MECHANISMS = {
    "no_nx": "granted twice",
    "ttl_of_1_ms": "the TTL ran out in the work",
    "key_per_replica": "locked different keys",
    "lets_go_before_the_write": "released before the end of the work",
    "skips_one_in_a_hundred": "never asked the store",
    "deletes_without_compare": "deleted by another",
    "works_twice": "the work was done again",
    "wrong_mutex": "granted twice in one process",
    "renews_a_foreign_key": "another renewed what it did not hold",
    "releases_a_lost_lock": "deleted by another",
    "forgets_its_count": "the inner release freed it",
}
RUSH = ("rush", {"requests": 1500, "users": 60})
UNDER = {  # what harms only in a situation of its own
    # held nearly always: who slips in meets somebody
    "skips_one_in_a_hundred": ("rush", {"requests": 1500, "users": 60, "work_ms": 5}),
    "deletes_without_compare": ("slow_holder", {}),
    "renews_a_foreign_key": ("holder_crash", {}),
    "releases_a_lost_lock": ("frozen_holder", {"work_ms": 100}),  # time enough for another to come in after the theft
    "forgets_its_count": ("nested", {}),
}
# what else is true of them, and not what they are condemned for
ALSO = {
    "wrong_mutex": {"process-local lock"},
    "deletes_without_compare": {"the TTL ran out in the work"},
    "releases_a_lost_lock": {"stopped until its lease had run out"},
}


def test_every_sabotage_is_expected():
    """Every sabotaged stage has an expected mechanism."""
    assert {path.stem for path in SABOTAGE.glob("*.py")} == set(MECHANISMS)


@pytest.mark.parametrize("name", MECHANISMS)
def test_sabotage_is_condemned(name, tmp_path):
    """A sabotaged stage is condemned by the right mechanism."""
    scenario, options = UNDER.get(name, RUSH)
    done = run(scenario, str(SABOTAGE / f"{name}.py"), tmp_path, **options)

    guilty = {violation["mechanism"]: violation for violation in done.verdict["violations"]}

    assert (done.status, done.verdict["verdict"]) == (1, "BROKEN")
    assert set(guilty) - ALSO.get(name, set()) == {MECHANISMS[name]}
    assert guilty[MECHANISMS[name]]["evidence"]


@pytest.mark.parametrize("number", range(20))
def test_a_sound_stage_is_never_condemned(number, tmp_path):
    stage = ("setnx", "ttl", "uuid", "lua", "reentrant", "watchdog", "incr")[number % 7]

    done = run("rush", stage, tmp_path, requests=600, users=60, seed=number)

    assert (done.status, done.verdict["verdict"], done.verdict["violations"]) == (0, "KEPT", [])
