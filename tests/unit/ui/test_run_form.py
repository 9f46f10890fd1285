"""What the form of Locust's page means as a run."""

from __future__ import annotations

import pytest

from lab.ui.run_form import USERS, read
from tests.command import lab
from tests.locust_page import EMPTY, FORM


@pytest.mark.parametrize(("option", "wrong", "nearest"), [("--stage", "lau", "'lua'"), ("--scenario", "rsh", "'rush'")])
def test_bad_preselection_is_refused(option, wrong, nearest, tmp_path):
    """A wrong preselection of the form is refused before anything starts."""
    done = lab("ui", "--port", "0", option, wrong, cwd=tmp_path)

    assert done.status == 2
    assert nearest in done.err


def test_empty_fields_are_the_scenarios():
    """Empty fields of the form take the scenario's own values."""
    order = read(FORM | EMPTY | {"stage": "lua", "scenario": "work_outlasts_ttl", "requests": "", "user_count": "9"})

    assert (order.scenario.requests, order.scenario.users, order.scenario.work_ms, order.scenario.ttl_ms) == (9, 9, 450, 300)
    assert order.scenario.notes == ()


@pytest.mark.parametrize(
    ("scenario", "requests", "users"), [("frozen_holder", "", 12), ("frozen_holder", "5", 5), ("rush", "", 100)]
)
def test_default_users_are_the_scenarios(scenario, requests, users):
    """Users that were not chosen are the scenario's own."""
    order = read(FORM | EMPTY | {"stage": "lua", "scenario": scenario, "requests": requests, "user_count": str(USERS)})

    assert order.scenario.users == users


def test_form_differences_are_noted():
    """What the form does differently from the command line is noted."""
    slow = read(FORM | {"spawn_rate": "10"}).scenario
    at_rate = read(FORM | {"rate": "100"}).scenario

    assert slow.notes == ("the users were started at 10 a second, not all at once",)
    assert "the number of users in the form is not used" in at_rate.notes[0]
    assert at_rate.rate == 100
