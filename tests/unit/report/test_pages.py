"""Test that reports are made again from their files alone, and that the reference is complete."""

from pathlib import Path

import pytest

from app.locks import stages
from lab.evidence.run_record import Ending
from lab.report import comparison, reference, run_page
from tests.builders import made_run


@pytest.fixture
def one(tmp_path) -> Path:
    return made_run(tmp_path / "reports" / "runs" / "20260101T000000.000Z-rush-mine-1")


def test_drawing_again_is_exact(one):
    """Drawing and judging again give the same files."""
    run_page.report_run(one)
    first = {path.name: path.read_bytes() for path in one.iterdir() if path.is_file()}

    run_page.report_run(one)

    assert {path.name: path.read_bytes() for path in one.iterdir() if path.is_file()} == first


def test_comparison_can_be_made_again(one, tmp_path, undrawn):
    """The folder of a comparison has all files that are needed to make it again."""
    other = made_run(tmp_path / "reports" / "runs" / "20260101T000001.000Z-rush-other-1", stage="other")
    into = tmp_path / "compared"

    comparison.report_many([one, other], into)

    before = {path.name: path.read_bytes() for path in into.iterdir() if path.is_file()}
    comparison.report_again(into)
    assert {path.name: path.read_bytes() for path in into.iterdir() if path.is_file()} == before


def test_reference_holds_the_ladder():
    """The reference has a complete run of 5000 requests for each stage of the ladder."""
    results = reference.ladder()
    run = sorted((one.judgement.stage, one.record.scenario["replicas"]) for one in results)
    wanted = sorted([*((name, 3) for name in stages()), ("none", 1), ("local", 1)])
    lacking = [f"`lab run rush --stage {name}`" for name, _ in wanted if (name, 3) not in run]

    assert not lacking, f"the reference ladder lacks {', '.join(lacking)}: CONTRIBUTING says how its run is kept (The book)"
    assert run == wanted
    assert all(result.record.ended is Ending.COMPLETE and result.judgement.exit_status == 0 for result in results)
    assert all(result.judgement.requests == 5000 for result in results)
