"""Test the book in docs/: each stage has its chapter, and figures and pictures come from kept runs."""

import re
from pathlib import Path

from app.locks import stages
from lab.evidence.run_record import Ending
from lab.judge.verdict import judge
from lab.language import Language
from lab.paths import HOME
from lab.report import reference
from lab.report.run_page import report_run
from tests.builders import made_run
from tests.every import every
from tools.book import chapters, figures, generate
from tools.book.figures import Illustration, illustrations

PLACES = ["problem", "diff", "verdicts", "still", "neighbours"]  # the generated parts of every chapter, in this order


def prose(path: Path) -> str:
    """Return a document without its fenced code."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@every("stage", stages)
def test_every_stage_has_a_chapter(stage):
    """The chapter of a stage has its parts in order, the pictures that are listed for it, and at most 120 lines of its own."""
    path = chapters.FOLDER / f"{stage}.md"
    assert path.exists(), f"the chapter of {stage} is missing: begin with a copy of another"
    text = path.read_text(encoding="utf-8")
    parts = re.findall(r"<!-- generated: (\w+) (\w+)", text)
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    order = ["The code", "What happened", "Still wrong", "What the documents say"]
    before_still = text.partition("## Still wrong")[0]
    shown = re.findall(r"<!-- generated: picture (\w+) (\w+) -->", text)
    listed = [(one.stage, one.scenario) for one in illustrations().values() if one.stage == stage]
    # the chapter without its code, its schedule, and, below, the table of verdicts, which grows with the scenarios
    own = re.sub(
        r"```(?:diff|python).*?```|\n<!-- generated: schedule .*?<!-- end -->\n|\*\*Be the scheduler.*?\n\n",
        "",
        text,
        flags=re.DOTALL,
    )

    assert text.startswith(f"# `{stage}`: ")
    assert [name for name, about in parts if about == stage and name in PLACES] == PLACES
    assert [name for name in sections if name in order] == [name for name in order if name in sections]
    assert sections[:2] == order[:2]
    assert sections[-1] in order[2:]
    assert "generated: schedule" not in text or "generated: schedule" in before_still
    assert before_still.count("generated: picture ") <= 1, "one picture shows what the stage is about"
    assert listed, f"docs/pictures.toml shows no run of {stage}"
    assert sorted(shown) == sorted(listed)
    assert len([line for line in own.splitlines() if not line.startswith("| `")]) <= 120


def test_cell_that_is_not_tried_yet(monkeypatch):
    """A cell that is not in the matrix yet is no error: its figure comes with the next matrix."""
    monkeypatch.setattr(reference, "cells", list)

    assert chapters.PARTS["cell"]("rush", "lua") == "not tried yet"


@every("one", lambda: illustrations().values())
def test_picture_shows_its_run(one):
    """A picture shows the run that it is listed with, and every grant outside its time belongs to a request with a fault."""
    kept, picture = figures.result(one), figures.timeline(one)
    since, until = picture.opens
    outside = {grant.request for grant in picture.held if grant.got > until or grant.until < since}

    assert (kept.judgement.stage, kept.judgement.scenario, kept.judgement.verdict) == (one.stage, one.scenario, one.shows)
    assert {key: kept.record.scenario[key] for key in one.options} == one.options
    assert kept.record.ended is Ending.COMPLETE
    assert outside <= {fault.request for fault in picture.faults}


def test_kept_runs():
    """The list of pictures has every kept run and every folder of pictures, and each chapter belongs to a stage."""
    assert sorted(path.stem for path in chapters.FOLDER.glob("*.md")) == sorted(stages())
    assert set(figures.results()) == set(illustrations())
    assert {path.name for path in figures.PICTURES.iterdir() if path.is_dir()} <= set(illustrations())


@every("path", generate.documents)
def test_no_line_begins_with_a_figure(path):
    """No line begins with a generated figure, because Markdown would take the line for HTML."""
    begun = [line for line in prose(path).splitlines() if re.match(r"\s*([-*] |\d+\. )?<!-- generated: [^\n]+? -->.", line)]

    assert begun == []


def test_glossary_terms():
    """The glossary gives each term once, in English and in Chinese."""
    rows = [line.split(" | ") for line in (HOME / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()[6:]]

    assert len({row[0] for row in rows}) == len(rows)
    assert all(len(row) == 3 and re.search(r"[\u4e00-\u9fff]", row[1]) for row in rows)


def test_run_below_a_third():
    """In the run of late writes, less than a third of the increments is left, although each replica served its share."""
    judgement = figures.result(illustrations()["local-late_writes"]).judgement
    share = judgement.danger["least_share_percent"]

    assert judgement.final < judgement.acknowledged / 3
    assert share.needed > 0
    assert share.reached


def test_kept_facts_draw_the_same(tmp_path, monkeypatch, request):
    """The picture of the kept facts of a run is the same as the picture of the whole run."""
    request.addfinalizer(figures.results.cache_clear)  # a later test in the same process reads the book's own runs
    monkeypatch.setattr(figures, "KEPT", tmp_path / "kept")
    run = made_run(tmp_path / "20260101T000000.000Z-rush-none-1")
    one = Illustration(stage="none", scenario="rush", shows=judge(run)[0].verdict)
    report_run(run)

    figures.keep(one, run)

    assert figures.draw(one, Language.ENGLISH, tmp_path).read_bytes() == (run / "timeline.svg").read_bytes()
