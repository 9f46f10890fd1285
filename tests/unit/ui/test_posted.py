"""Test how the form of Locust's page becomes a run."""

from itertools import pairwise

from lab.ui.posted import AT_ONCE, USERS, read
from tests.every import every
from tests.locust_page import EMPTY, FORM


def test_empty_fields_are_the_scenarios():
    """Empty fields of the form take the scenario's own values."""
    order = read(FORM | EMPTY | {"stage": "lua", "scenario": "work_outlasts_ttl", "requests": "", "user_count": "9"})

    assert (order.scenario.requests, order.scenario.users, order.scenario.work_ms, order.scenario.ttl_ms) == (9, 9, 450, 300)
    assert order.scenario.notes == ()


@every(
    "scenario, requests, typed, users",
    [
        ("frozen_holder", "", str(USERS), 12),
        ("frozen_holder", "", "", 12),
        ("frozen_holder", "5", str(USERS), 5),
        ("rush", "", str(USERS), 100),
        ("rush", "", "12", 12),
        ("try_lock", "", "100", 100),
    ],
)
def test_users_are_the_scenarios(scenario, requests, typed, users):
    """If the field of users is empty or keeps its first value, the users are the scenario's; otherwise they are as typed."""
    form = {"stage": "lua", "scenario": scenario, "requests": requests, "user_count": typed, "spawn_rate": str(AT_ONCE)}
    order = read(FORM | EMPTY | form)

    assert order.scenario.users == users
    assert ("--users" in order.command) == (typed in ("12", "100"))


def test_form_differences_are_noted():
    """A run notes a value of the form that it does not use."""
    at_rate = read(FORM | {"rate": "100"}).scenario

    for users in ("0", "20"):
        slow = read(FORM | {"user_count": users, "spawn_rate": "10", "think_ms": "50"})
        assert (slow.scenario.spawn_rate, slow.scenario.think_ms) == (10, 50)
        assert {"--think-ms 50", "--spawn-rate 10"} <= {" ".join(pair) for pair in pairwise(slow.command.split())}
    assert "the number of users in the form is not used" in at_rate.notes[0]
    assert at_rate.rate == 100
    assert read(FORM | {"rate": "100", "user_count": "0"}).scenario.notes == ()
