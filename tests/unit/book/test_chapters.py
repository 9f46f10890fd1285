"""The book in docs/: each stage has its chapter, figures and pictures come from runs that are kept, links lead somewhere."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.locks import stages
from lab.errors import BadInput
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

PLACES = ["problem", "diff", "verdicts", "still", "neighbours"]  # what every chapter holds, in this order


def prose(path: Path) -> str:
    """A document without its fenced code."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@every("stage", stages)
def test_every_stage_has_a_chapter(stage):
    """Every stage has a chapter with all parts in order. It goes from the code to what happened, what is still wrong, and the
    documents, shows the pictures that are listed for it, and is short enough to be read in one go.
    """
    path = chapters.FOLDER / f"{stage}.md"
    assert path.exists(), f"the chapter of {stage} is missing: begin with a copy of another"
    text = path.read_text(encoding="utf-8")
    parts = re.findall(r"<!-- generated: (\w+) (\w+)", text)
    sections = re.findall(r"^## (.*)$", text, re.MULTILINE)
    order = ["The code", "What happened", "Still wrong", "What the documents say"]
    before_still = text.partition("## Still wrong")[0]
    shown = re.findall(r"<!-- generated: picture (\w+) (\w+) -->", text)
    listed = [(one.stage, one.scenario) for one in illustrations().values() if one.stage == stage]
    # without code, a picture, links, and the table of verdicts, which grows with the scenarios
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
    """A scenario that fits a stage, and is not in the matrix yet, is no error: the figure comes with the next matrix."""
    monkeypatch.setattr(reference, "cells", list)

    assert chapters.PARTS["cell"]("rush", "lua") == "not tried yet"


@every("one", lambda: illustrations().values())
def test_picture_shows_its_run(one):
    """A picture shows the run that it is listed with, and what is kept of the run is no more than that."""
    kept, picture = figures.result(one), figures.timeline(one)
    since, until = picture.opens
    outside = {grant.request for grant in picture.held if grant.got > until or grant.until < since}

    assert (kept.judgement.stage, kept.judgement.scenario, kept.judgement.verdict) == (one.stage, one.scenario, one.shows)
    assert {key: kept.record.scenario[key] for key in one.options} == one.options
    assert kept.record.ended is Ending.COMPLETE
    assert outside <= {fault.request for fault in picture.faults}


def test_kept_runs():
    """Every kept run and every folder of pictures is listed, and each chapter is that of a stage."""
    assert sorted(path.stem for path in chapters.FOLDER.glob("*.md")) == sorted(stages())
    assert set(figures.results()) == set(illustrations())
    assert {path.name for path in figures.PICTURES.iterdir() if path.is_dir()} <= set(illustrations())


@every("path", generate.documents)
def test_no_line_begins_with_a_figure(path):
    """No line begins with a generated figure: Markdown would take the line for HTML."""
    begun = [line for line in prose(path).splitlines() if re.match(r"\s*([-*] |\d+\. )?<!-- generated: [^\n]+? -->.", line)]

    assert begun == []


def test_glossary_terms():
    """The glossary gives each term once, in English and in Chinese."""
    rows = [line.split(" | ") for line in (HOME / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()[6:]]

    assert len({row[0] for row in rows}) == len(rows)
    assert all(len(row) == 3 and re.search(r"[\u4e00-\u9fff]", row[1]) for row in rows)


@every(
    "words, message",
    [
        ("figur none lost", "no generated part 'figur'. Did you mean 'figure'"),
        ("figure none", "missing a required argument"),
        ("figure non lost", "no stage 'non'. Did you mean"),
        ("figure none lots", "no figure 'lots'. Did you mean 'lost'"),
        ("figure ttl lost 1", "no run of ttl over 1 replicas"),
        ("cell rush tll", "no stage 'tll'. Did you mean 'ttl'"),
        ("verdicts tll", "no stage 'tll'. Did you mean 'ttl'"),
        ("cell slow_holder none", "no run of none under slow_holder"),
        ("picture none convoy", "no picture 'none-convoy'"),
        ("shown watchdog work_outlasts_ttl destroyed", "opens on no loss"),
    ],
)
def test_bad_part_is_refused(words, message):
    """A generated part that cannot be made is refused by name."""
    with pytest.raises(BadInput, match=re.escape(message)):
        generate.fill(f"<!-- generated: {words} --><!-- end -->", Path("page.md"))


def test_run_below_a_third():
    """The run of late writes leaves less than a third, though each replica served its share."""
    judgement = figures.result(illustrations()["local-late_writes"]).judgement
    share = judgement.danger["least_share_percent"]

    assert judgement.final < judgement.acknowledged / 3
    assert share.needed > 0
    assert share.reached


def test_bad_picture_entry_is_refused(tmp_path, monkeypatch):
    """A wrong entry in the list of pictures is refused with its place."""
    (tmp_path / "list.toml").write_text('[[picture]]\nstage = "none"\nscenario = "rush"\nworts = true\n', encoding="utf-8")
    monkeypatch.setattr(figures, "LIST", tmp_path / "list.toml")

    with pytest.raises(BadInput, match=r"docs/pictures.toml: .*unknown field `worts`"):
        illustrations.__wrapped__()


def test_unfit_run_is_not_kept(tmp_path, monkeypatch):
    """A run with another verdict than the picture should show is not kept."""
    monkeypatch.setattr(figures, "KEPT", tmp_path / "kept")
    run = made_run(tmp_path / "20260101T000000.000Z-rush-none-1")

    with pytest.raises(BadInput, match=f"came to {judge(run)[0].verdict}, and the picture none-rush is to show KEPT"):
        figures.keep(Illustration(stage="none", scenario="rush", shows="KEPT"), run)
    assert not (tmp_path / "kept").exists()


def test_kept_facts_draw_the_same(tmp_path, monkeypatch, request):
    """What is kept of a run is drawn as the whole run would be drawn."""
    request.addfinalizer(figures.results.cache_clear)  # a later test in the same process reads the book's own runs
    monkeypatch.setattr(figures, "KEPT", tmp_path / "kept")
    run = made_run(tmp_path / "20260101T000000.000Z-rush-none-1")
    one = Illustration(stage="none", scenario="rush", shows=judge(run)[0].verdict)
    report_run(run)

    figures.keep(one, run)

    assert figures.draw(one, Language.ENGLISH, tmp_path).read_bytes() == (run / "timeline.svg").read_bytes()


@pytest.mark.parametrize(("names", "ran"), [(["lua-nested"], ["lua-nested"]), (["all"], list(illustrations())), ([], [])])
def test_rerun_by_name(names, ran, monkeypatch):
    """A named picture is run again by the command that the chapter prints, and its run is kept."""
    kept, message = [], []
    monkeypatch.setattr(figures, "child_run", lambda words, cwd: SimpleNamespace(run=f"{words[2]}-{words[0]}"))
    monkeypatch.setattr(figures, "keep", lambda one, run: kept.append((one.name, run.name)))

    figures.rerun(names, message.append)

    assert kept == [(name, name) for name in ran]
    assert message == [f"{name}: {' '.join(illustrations()[name].command)}" for name in ran]
    assert all(f".venv/bin/{line.partition(': ')[2]}\n" in every_chapter() for line in message)


def every_chapter() -> str:
    return "".join((chapters.FOLDER / f"{stage}.md").read_text(encoding="utf-8") for stage in stages())


def test_unlisted_picture_is_not_run():
    """A picture that is not listed is not run, and the error names the nearest picture."""
    with pytest.raises(BadInput, match="no picture 'lua-nestd'. Did you mean 'lua-nested'".replace(".", r"\.")):
        figures.rerun(["lua-nestd"], print)
