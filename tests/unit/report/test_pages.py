"""Reports and charts are made from files alone, and need nothing from outside."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from app.locks import stages
from lab.docgen import generate
from lab.evidence import run_folder
from lab.judge.verdict import judge
from lab.paths import REFERENCE
from lab.report import pages, reference
from lab.report.charts import charts
from tests.builders import made_run
from tests.pages import assert_self_contained


@pytest.fixture
def one(tmp_path) -> Path:
    return made_run(tmp_path / "reports" / "runs" / "20260101T000000.000Z-rush-mine-1")


def test_a_run_is_drawn_into_its_folder_with_every_chart_and_a_page_of_its_own(one):
    page, *pictures = pages.report_run(one)

    assert [picture.stem for picture in pictures] == [name for name in charts("one") if name != "crowd"]  # nobody waited
    assert_self_contained(page)
    text = page.read_text(encoding="utf-8")
    assert "An &lt;idea&gt;." in text
    assert "ADMITTED" in text
    assert "made by hand" in text


def test_drawing_and_judging_again_give_the_same(one):
    pages.report_run(one)
    first = {path.name: path.read_bytes() for path in one.iterdir() if path.is_file()}

    pages.report_run(one)

    assert {path.name: path.read_bytes() for path in one.iterdir() if path.is_file()} == first


def test_every_loss_is_written_down_with_its_culprit_and_its_victim(one):
    judgement, _ = judge(one)

    losses = [json.loads(line) for line in (one / "losses.jsonl").read_text(encoding="utf-8").splitlines()]

    assert judgement.lost == sum(loss["destroyed"] for loss in losses) == 1
    assert [(loss["culprit"]["request"], loss["victim"]["request"]) for loss in losses] == [("b", "a")]


def test_runs_are_compared_as_svg_png_table_and_page_and_can_be_compared_again_from_there(one, tmp_path):
    other = made_run(tmp_path / "reports" / "runs" / "20260101T000001.000Z-rush-other-1", stage="other")
    into = tmp_path / "compared"

    page, table, *pictures = pages.report_many([one, other], into)

    assert {path.suffix for path in pictures} == {".svg", ".png"}
    assert_self_contained(page)
    assert "| `mine` | 3 | 3 | 2 | 1 | 0 | 0 | 0 |" in table.read_text(encoding="utf-8")
    before = {path.name: path.read_bytes() for path in into.iterdir() if path.is_file()}
    pages.report_many(pages.runs_in(into), into)
    assert {path.name: path.read_bytes() for path in into.iterdir() if path.is_file()} == before


def test_clean_keeps_the_newest(one, tmp_path):
    newer = made_run(tmp_path / "reports" / "runs" / "20260102T000000.000Z-rush-mine-1")

    gone = run_folder.clean(1, tmp_path / "reports")

    assert (gone, newer.exists(), one.exists()) == ([one], True, False)


def test_a_folder_that_is_no_run_is_refused(tmp_path):
    with pytest.raises(run_folder.BadInput, match="no run"):
        run_folder.find(str(tmp_path))


@pytest.mark.parametrize("path", generate.documents(), ids=lambda path: path.name)
def test_the_generated_parts_of_a_document_are_as_the_code_makes_them(path):
    text = path.read_text(encoding="utf-8")

    assert generate.fill(text) == text


def test_the_reference_charts_and_table_are_drawn_from_the_reference_runs(tmp_path):
    again = tmp_path / "reference"
    shutil.copytree(REFERENCE, again)
    pages.report_many(pages.runs_in(again), again)

    for kind in ("*.svg", "table.md", "index.html"):
        for path in REFERENCE.glob(kind):
            assert (again / path.name).read_bytes() == path.read_bytes(), path.name


def test_the_reference_holds_the_whole_ladder():
    results = reference.ladder()

    assert len(results) == len(stages()) + 2
    assert all(result.record.ended == "complete" and result.judgement.exit_status == 0 for result in results)
    assert all(result.judgement.requests == 5000 for result in results)
