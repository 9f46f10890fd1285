"""Test the verdicts in a chapter: each change has a row, and a scenario that was not tried does not count as kept."""

import pytest

from app.lock import Claim
from app.locks import stages
from lab.paths import DOCS
from lab.report import reference
from lab.report.matrix import Cell
from lab.story.say import text as say
from tools.book import chapters

NOT_TRIED = say("chapter", "not_tried") + "\n"


def cell(stage: str, scenario: str, verdict: str, lost: int = 0, claim: str = "exclusive", **rounds: dict[str, int]) -> Cell:
    """Return a cell of a made-up matrix."""
    return Cell(stage=stage, scenario=scenario, claim=claim, verdict=verdict, lost=lost, **rounds)


@pytest.fixture
def matrix_of(monkeypatch):
    """Return a function that makes the documents quote these cells."""
    return lambda *cells: monkeypatch.setattr(reference, "cells", lambda: list(cells))


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| `")]


def test_only_changed_verdicts_are_rows(matrix_of):
    """A chapter has a row only for a changed verdict; another number of losses is no change."""
    matrix_of(
        cell("uuid", "rush", "KEPT"), cell("lua", "rush", "KEPT"),
        cell("uuid", "release_race", "ADMITTED", 1), cell("lua", "release_race", "KEPT"),
        cell("uuid", "failover", "ADMITTED", 136), cell("lua", "failover", "ADMITTED", 1),
    )  # fmt: skip

    assert rows(chapters._verdicts("lua")) == ["| `release_race` | `exclusive` | lost 1 | kept |"]


def test_losses_by_another_cause_are_a_change(matrix_of):
    """Increments that are lost by another cause, while the promise is kept, are a change as well."""
    matrix_of(cell("uuid", "slow_holder", "KEPT"), cell("lua", "slow_holder", "KEPT", 4))

    assert rows(chapters._verdicts("lua")) == ["| `slow_holder` | `exclusive` | kept | kept, 4 lost otherwise |"]


def test_scenarios_that_did_not_fit_before(matrix_of):
    """Scenarios that were not tried with the stage before are in one sentence."""
    matrix_of(
        cell("uuid", "rush", "KEPT"), cell("lua", "rush", "KEPT"), cell("uuid", "amnesia", ""),
        cell("lua", "amnesia", "ADMITTED", 3), cell("lua", "nested", "KEPT"), cell("lua", "convoy", "UNSEEN"),
    )  # fmt: skip

    text = chapters._verdicts("lua")

    assert "Compared with [`uuid`](uuid.md), no verdict changed" in text
    assert "in scenarios that were not tried with `uuid`: “kept” in `nested`; “lost 3” in `amnesia`; “unseen” in `convoy`" in text


@pytest.mark.parametrize("verdict", ["", "VOID"])
def test_stage_that_is_not_tried(matrix_of, verdict):
    """A stage of which no cell proves anything has one line, and no empty table."""
    matrix_of(cell("uuid", "rush", "KEPT"), cell("lua", "rush", verdict))

    assert chapters._verdicts("lua") == NOT_TRIED


def test_first_stage(matrix_of):
    """The first stage of the ladder has a row for each cell, because there is no stage to compare with."""
    matrix_of(cell("none", "rush", "ADMITTED", 9))

    assert rows(chapters._verdicts("none")) == ["| `rush` | `exclusive` | lost 9 |"]


def test_every_claim_is_on_the_page():
    """The page of conditions names each claim."""
    text = (DOCS / "conditions.md").read_text(encoding="utf-8")

    assert [claim.name for claim in Claim if f"`{claim.name}`" not in text] == []


def test_no_promise_is_admitted():
    """No cell of the reference matrix has the verdict ADMITTED for a claim that its stage makes."""
    promised = {(name, claim.name) for name, stage in stages().items() for claim in stage.claims}

    assert [one for one in reference.cells() if one.verdict == "ADMITTED" and (one.stage, one.claim) in promised] == []
