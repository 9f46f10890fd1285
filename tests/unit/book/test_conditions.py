"""The page of conditions: every claim and every stage is on it, and nothing that was not tried counts as kept."""

import pytest

from app.lock import Claim
from app.locks import stages
from lab.errors import BadInput
from lab.report import reference
from lab.report.matrix import Cell
from tools.book import conditions, generate


@pytest.fixture
def made_cells(monkeypatch):
    """Let the reference matrix have these cells: claim, stage, verdict, increments lost."""

    def make(*cells: tuple[str, str, str, int]) -> None:
        made = [
            Cell(claim=claim, scenario=claim, stage=stage, verdict=verdict, lost=lost) for claim, stage, verdict, lost in cells
        ]
        monkeypatch.setattr(reference, "cells", lambda: made)

    return make


@pytest.mark.whole
def test_every_claim_is_on_the_page():
    """Each claim stands under a condition, or in the table of the others."""
    text = generate.fill(conditions.PAGE.read_text(encoding="utf-8"))

    assert [claim.name for claim in Claim if f"| `{claim.name}`: {claim.value} |" not in text] == []


def test_untried_and_void_are_not_kept(made_cells):
    """A promise alone is no evidence, nor is a run that proves nothing."""
    made_cells(
        ("fair", "zookeeper", "KEPT", 0),
        ("fair", "etcd", "VOID", 0),
        ("fair", "lua", "ADMITTED", 0),
        ("fair", "ttl", "UNSEEN", 0),
    )
    of = conditions.columns(Claim.fair)

    assert of[conditions.KEPT] == ["zookeeper"]
    assert of[conditions.FAILED] == ["lua"]
    assert "etcd" in of[conditions.PROMISED]
    assert "ttl" in of[conditions.UNTRIED]


def test_the_worst_run_of_a_claim_counts(made_cells):
    """A stage that kept a claim in one scenario and failed in another has failed."""
    made_cells(("fair", "zookeeper", "KEPT", 0), ("fair", "zookeeper", "BROKEN", 3))

    assert conditions.columns(Claim.fair)[conditions.FAILED] == ["zookeeper"]


def test_ticks(made_cells, monkeypatch):
    """Losses by another cause, and claims that were not tried, have signs of their own."""
    made_cells(
        ("fair", "zookeeper", "KEPT", 0), ("reentrant", "zookeeper", "KEPT", 0),
        ("fair", "etcd", "KEPT", 0), ("reentrant", "etcd", "KEPT", 2),
        ("fair", "queued", "KEPT", 0),
        ("fair", "lua", "KEPT", 0), ("reentrant", "lua", "ADMITTED", 0),
    )  # fmt: skip
    monkeypatch.setattr(conditions, "CONDITIONS", {"reentrant": ("fair", "reentrant")})
    rows = dict(line.strip("| ").split(" | ") for line in conditions.PARTS["ticks"]().splitlines())

    assert [rows[f"`{name}`"] for name in ("zookeeper", "etcd", "queued", "lua", "none")] == ["✓", "~", "(✓)", "✗", "–"]
    assert rows["✓"] == f"1 of {len(stages())}"
    assert conditions.PARTS["keeping"]("fair", "reentrant").endswith(f"In all rows: `zookeeper` (1 of {len(stages())} stages).\n")


def test_a_long_list_names_the_others(made_cells):
    """Where nearly all stages keep a claim, the row names the few that do not."""
    names = list(stages())
    made_cells(*((claim, name, "KEPT", 0) for name in names[2:] for claim in ("fair", "reentrant")))

    (*_, words, _) = conditions.PARTS["keeping"]("fair", "reentrant").split("\n")
    assert words == f"In all rows: all but `{names[0]}`, `{names[1]}` ({len(names) - 2} of {len(names)} stages)."


def test_an_unknown_claim_is_refused():
    """A marker with a claim that does not exist is an error with the nearest name."""
    with pytest.raises(BadInput, match="reentrant"):
        conditions.PARTS["keeping"]("reentrent")
