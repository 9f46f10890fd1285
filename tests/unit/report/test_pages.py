"""Reports and charts are made from files alone, and need nothing from outside."""

import json
import re
from pathlib import Path

import pytest

from app.locks import stages
from lab.evidence import run_folder
from lab.evidence.run_record import Ending
from lab.judge.verdict import judge
from lab.report import comparison, reference, run_page
from tests.builders import made_run
from tests.pages import assert_self_contained


@pytest.fixture
def one(tmp_path) -> Path:
    return made_run(tmp_path / "reports" / "runs" / "20260101T000000.000Z-rush-mine-1")


def test_run_has_pictures_and_a_page(one):
    """A run is drawn into its folder: a page in each language, the timeline, and the steps of the loss."""
    page, chinese, *pictures = run_page.report_run(one)

    assert [path.name for path in pictures] == ["timeline.svg", "five_steps.svg", "five_steps.zh.svg"]
    assert (page.name, chinese.name) == ("report.html", "report.zh.html")
    assert_self_contained(page)
    assert_self_contained(chinese)
    text = page.read_text(encoding="utf-8")
    assert "ADMITTED" in text
    assert "made by hand" in text
    assert "<code>mine</code>&ensp;A &lt;title&gt;." in text
    assert text.count('id="five-steps"') == 1
    assert re.search(r'<ol class="said">(.*?)</ol>', text, re.DOTALL)[1].count("<li>") == 6
    assert text.count('id="five-steps-step-6-1"') == 1


def test_run_without_a_title_has_a_page(one):
    """A run is drawn also where its record has no title of its stage: the lab needs it for nothing else."""
    record = json.loads((one / "run.json").read_text(encoding="utf-8"))
    del record["stage"]["title"]
    (one / "run.json").write_text(json.dumps(record), encoding="utf-8")

    page, *_ = run_page.report_run(one)

    assert "ADMITTED" in page.read_text(encoding="utf-8")


def test_drawing_again_is_exact(one):
    """Drawing and judging again give the same files."""
    run_page.report_run(one)
    first = {path.name: path.read_bytes() for path in one.iterdir() if path.is_file()}

    run_page.report_run(one)

    assert {path.name: path.read_bytes() for path in one.iterdir() if path.is_file()} == first


def test_losses_have_culprit_and_victim(one):
    """Every loss is recorded with its culprit and its victim."""
    judgement, _ = judge(one)

    losses = [json.loads(line) for line in (one / "losses.jsonl").read_text(encoding="utf-8").splitlines()]

    assert judgement.lost == sum(loss["destroyed"] for loss in losses) == 1
    assert [(loss["culprit"]["request"], loss["victim"]["request"]) for loss in losses] == [("b", "a")]


def test_comparison_can_be_made_again(one, tmp_path, undrawn):
    """A comparison's folder holds all that the same comparison needs."""
    other = made_run(tmp_path / "reports" / "runs" / "20260101T000001.000Z-rush-other-1", stage="other")
    into = tmp_path / "compared"

    comparison.report_many([one, other], into)

    before = {path.name: path.read_bytes() for path in into.iterdir() if path.is_file()}
    comparison.report_many(comparison.runs_in(into), into)
    assert {path.name: path.read_bytes() for path in into.iterdir() if path.is_file()} == before


def test_clean_keeps_the_newest(one, tmp_path):
    newer = made_run(tmp_path / "reports" / "runs" / "20260102T000000.000Z-rush-mine-1")

    gone = run_folder.clean(1, tmp_path / "reports")

    assert (gone, newer.exists(), one.exists()) == ([one], True, False)


def test_reference_holds_the_ladder():
    """The reference holds the whole ladder."""
    results = reference.ladder()
    run = sorted((one.judgement.stage, one.record.scenario["replicas"]) for one in results)
    wanted = sorted([*((name, 3) for name in stages()), ("none", 1), ("local", 1)])
    lacking = [f"`lab run rush --stage {name}`" for name, _ in wanted if (name, 3) not in run]

    assert not lacking, f"the reference ladder lacks {', '.join(lacking)}: CONTRIBUTING says how its run is kept (The book)"
    assert run == wanted
    assert all(result.record.ended is Ending.COMPLETE and result.judgement.exit_status == 0 for result in results)
    assert all(result.judgement.requests == 5000 for result in results)
