"""Test the result of a claim from runs and orders: it is kept, broken, or neither."""

from xml.dom import minidom

import pytest

from lab.errors import ExitStatus
from lab.own_lock.page import Speed, TestedCell, TestedClaim, TestedLock, headline, in_words, junit, not_shown, ordered


def cell(scenario: str = "rush", **rounds: int) -> TestedCell:
    """Return the runs of a scenario, by their verdicts."""
    return TestedCell(stage="s", scenario=scenario, claim="exclusive", verdict=next(iter(rounds)), rounds=rounds)


@pytest.mark.parametrize(
    ("orders", "cells", "words"),
    [
        ("", [cell(KEPT=3), cell("sale", KEPT=2, VOID=1)], "KEPT 5 of 6"),
        ("holds", [cell(VOID=3)], "KEPT in every order"),
        ("", [cell(BROKEN=1)], "BROKEN"),
        ("breaks", [cell(KEPT=3)], "BROKEN in some order"),
        ("", [cell(KEPT=3), cell("sale", BROKEN=3)], "BROKEN 3 of 3"),
        ("", [cell(BROKEN=2, KEPT=1)], "NOT DECIDED: BROKEN 2 of 3, KEPT 1 of 3"),
        ("holds", [cell(BROKEN=2, VOID=1)], "NOT DECIDED: BROKEN 2 of 3, VOID 1 of 3"),
        ("not_decided", [cell(VOID=3)], "NOT SHOWN"),
    ],
)
def test_promise(orders, cells, words):
    """A promise is broken if each run of a scenario or some order breaks it; if only some runs break it, it is not decided."""
    assert in_words(TestedClaim(claim="exclusive", orders=orders, cells=cells)) == words


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([cell(ADMITTED=1, UNSEEN=2)], "fails 1 of 3, not promised"),
        ([cell(UNSEEN=3)], "held 3 of 3, though not promised"),
        ([cell(VOID=3)], "NOT SHOWN"),
    ],
)
def test_no_promise(cells, words):
    """A claim that the lock does not make fails in some runs, or holds in all of them although it is not promised."""
    assert in_words(TestedClaim(claim="exclusive", promised=False, cells=cells)) == words


def test_only_promises_count_for_the_lock():
    """A claim that a lock does not make changes neither its headline nor the exit status."""
    kept = TestedClaim(claim="exclusive", cells=[cell(KEPT=3)])
    admitted = TestedClaim(claim="fair", promised=False, cells=[cell(ADMITTED=3)])
    some = TestedClaim(claim="counts_once", cells=[cell(BROKEN=1, KEPT=2)])

    sound = TestedLock(lock="x", stage="x", claims=[kept, admitted])
    two = TestedLock(lock="x", stage="x", claims=[kept, some])
    assert (headline(sound), sound.status) == ("1 of 1 promise kept", ExitStatus.GOOD)
    assert (headline(two), two.status) == ("1 of 2 promises kept; nothing was shown about counts_once", ExitStatus.NOTHING_SHOWN)
    assert ordered([admitted, some, kept])[-1] is admitted


def test_speed_is_a_mean_of_pairs():
    """A ratio is taken within a pair of measurements; a pair in which the lock served no request has none."""
    about = {"next_to": "lua", "commands": 0, "next_to_commands": 0}
    speed = Speed(per_s=[50, 200, 0], next_to_per_s=[100, 100, 100], **about)

    assert speed.ratios == [0.5, 2.0]
    assert speed.ratio == pytest.approx(1.0)


def test_same_reason_is_said_once():
    """Promises that were not shown for the same reason are in one line, even if the figures of the reasons differ."""
    void = [TestedCell(stage="s", scenario="rush", claim="c", verdict="VOID", reason=f"{n} of 3 came") for n in (1, 2)]
    claims = [TestedClaim(claim=name, cells=[one]) for name, one in zip(("exclusive", "counts_once"), void, strict=True)]

    lines = not_shown(TestedLock(lock="x", stage="x", claims=[*claims, TestedClaim(claim="fair", cells=[cell(KEPT=1)])]))
    assert lines == ["Nothing was shown about exclusive, counts_once: 1 of 3 came."]


def test_junit_of_any_error():
    """JUnit's XML is well-formed whatever characters an error of the lock has."""
    run = TestedCell(stage="s", scenario="rush", claim="fair", verdict="VOID", reason="<\x00\x1b[31m\x9f\ud800\uffff>")
    text = junit(TestedLock(lock="x", stage="x", claims=[TestedClaim(claim="fair", cells=[run])]))

    (skipped,) = minidom.parseString(text.encode()).getElementsByTagName("skipped")  # noqa: S318 - our own
    assert r"<\x00\x1b[31m\x9f\xd800\xffff>" in skipped.getAttribute("message")
