"""Reports and charts are made from files alone, and need nothing from outside."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from app.locks import stages
from lab.docgen import generate
from lab.evidence import run_folder
from lab.evidence.run_folder import RunRecord, save
from lab.judge.verdict import judge
from lab.paths import REFERENCE
from lab.report import pages, reference
from lab.report.charts import charts
from tests.made import Made

SCENARIO = {
    "name": "rush", "title": "A small rush", "tests": "exclusive", "danger": {"handovers": 0}, "seed": 1, "needs": [],
    "requests": 3, "users": 2, "replicas": 3, "rate": None, "retry_ms": 30, "work_ms": 0, "ttl_ms": None,
    "notes": ["made by hand"],
}  # fmt: skip


def made_run(folder: Path, stage: str = "mine", claims: tuple[str, ...] = ()) -> Path:
    """A finished run of three requests, one of which was lost."""
    made = Made(folder)
    made.increment("a", 0, 0, at=(0, 1, 6, 7)).increment("b", 0, 1, at=(1, 2, 8, 9), replica="replica-2")
    made.increment("c", 1, 1, at=(20, 21, 22, 23), replica="replica-3")
    about = {
        "run": folder.name,
        "command": "lab run",
        "commit": "abc",
        "started_utc": "2026-01-01T00:00:00.000+00:00",
        "final": 2,
    }
    about |= {
        "versions": {"redis-server": "7"},
        "machine": {"cores": 2, "processor": "one"},
        "commands": {"lock": {"set": 9}, "counter": {}},
    }
    plain = {"name": stage, "idea": "An <idea>.", "store": "redis", "claims": list(claims), "ttl_ms": None}
    save(folder / "run.json", RunRecord(**about, scenario=SCENARIO, stage=plain))
    return folder


@pytest.fixture
def one(tmp_path) -> Path:
    return made_run(tmp_path / "reports" / "runs" / "20260101T000000.000Z-rush-mine-1")


def assert_self_contained(page: Path) -> None:
    """No request leaves the page: nothing is loaded from anywhere. Where a reader may go from it is his own choice."""
    text = re.sub(r"<a [^>]*>", "", page.read_text(encoding="utf-8"))
    loaded = re.findall(r"""(?:src|href)\s*=\s*["']([^"'#][^"']*)["']""", text) + re.findall(r"url\(([^#)][^)]*)\)", text)

    assert [link for link in loaded if not link.startswith(("data:", "#"))] == []
    assert "@import" not in text


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
