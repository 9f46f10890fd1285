"""The book in docs/: each stage has its chapter, figures and pictures come from runs that are kept, links lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from app.locks import stages
from lab.docgen import chapters, cost_of_locking, figure_values, figures, generate, rerun_figures
from lab.docgen.figures import Illustration, illustrations
from lab.errors import BadInput
from lab.judge.verdict import judge
from lab.paths import HOME
from lab.report import reference
from lab.report.pages import report_run
from lab.report.timeline_model import NEVER, DrawnGrant, DrawnLoss, Life, Timeline, load
from lab.scenario import scenario
from tests.builders import made_run
from tests.pictures import assert_same_picture

LINK = re.compile(r"\]\(([^)\s]+)\)")
WITHIN_A_SENTENCE = re.compile(r"<!-- generated: [^\n]+? -->(?!\n)")
SMALL_BYTES = 3_300_000  # about 90 kB a picture


def name_of(path: Path) -> str:
    return path.relative_to(HOME).as_posix()


def prose(path: Path) -> str:
    """A document without its fenced code."""
    return re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> set[str]:
    """What its headings are called in links."""
    headings = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("stage", stages())
def test_every_stage_on_the_shelf_has_its_chapter_with_all_its_parts_in_order(stage):
    path = chapters.path(stage)
    assert path.exists(), f"the chapter of {stage} is missing: `.venv/bin/lab docs --begin {stage}` writes one to be filled in"
    parts = re.findall(r"<!-- generated: (\w+) (\w+)", path.read_text(encoding="utf-8"))

    assert [name for name, about in parts if about == stage and name in chapters.PLACES] == list(chapters.PLACES)
    assert path.read_text(encoding="utf-8").startswith(f"# `{stage}`: ")


def test_there_is_no_chapter_of_a_stage_that_is_not_on_the_shelf():
    assert sorted(path.stem for path in chapters.FOLDER.glob("*.md")) == sorted(stages())


@pytest.mark.parametrize("stage", stages())
def test_every_chapter_shows_the_pictures_that_are_listed_for_it_and_no_others(stage):
    shown = re.findall(r"<!-- generated: picture (\w+) (\w+) -->", chapters.path(stage).read_text(encoding="utf-8"))
    listed = [(one.stage, one.scenario) for one in illustrations().values() if one.stage == stage]

    assert listed, f"docs/pictures.toml shows no run of {stage}"
    assert sorted(shown) == sorted(listed)


@pytest.mark.parametrize("stage", stages())
def test_a_chapter_can_be_read_at_once(stage):
    text = re.sub(r"```diff.*?```|```python.*?```", "", chapters.path(stage).read_text(encoding="utf-8"), flags=re.DOTALL)

    own = [line for line in text.splitlines() if not line.startswith("| `")]  # the table of verdicts grows with the scenarios
    assert len(own) <= 120


@pytest.mark.parametrize("one", illustrations().values(), ids=illustrations())
def test_a_picture_shows_the_run_it_is_listed_with(one):
    kept = figures.result(one)

    assert (kept.judgement.stage, kept.judgement.scenario, kept.judgement.verdict) == (one.stage, one.scenario, one.shows)
    assert {key: kept.record.scenario[key] for key in one.options} == one.options
    assert kept.record.ended == "complete"


@pytest.mark.parametrize("path", generate.pictures(), ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_picture_is_drawn_from_its_facts(path, tmp_path):
    """Drawn again from the facts that are kept, each picture of the book shows the same."""
    generate.pictures()[path](tmp_path)

    assert_same_picture(tmp_path / path.name, path)


def test_drawing_is_exact(tmp_path):
    """The drawing library that is locked draws a picture again to the byte; after its upgrade all are drawn again."""
    path = illustrations()["lua-nested"].folder / figures.DRAWN

    generate.pictures()[path](tmp_path)

    assert (tmp_path / path.name).read_bytes() == path.read_bytes()


def test_every_folder_of_a_picture_is_listed_and_all_of_them_are_small():
    folders = {path.name for path in figures.KEPT.iterdir() if path.is_dir()}

    assert folders == set(illustrations())
    assert sum(path.stat().st_size for path in figures.KEPT.rglob("*") if path.is_file()) < SMALL_BYTES


@pytest.mark.parametrize("path", generate.documents(), ids=name_of)
def test_every_link_between_the_documents_leads_somewhere(path):
    for link in LINK.findall(prose(path)):
        if "://" in link:
            continue
        target, _, anchor = link.partition("#")
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), link
        assert not anchor or anchor in anchors(file), link


@pytest.mark.parametrize("path", generate.documents(), ids=name_of)
def test_no_line_begins_with_a_figure_where_markdown_would_take_the_line_for_html(path):
    begun = [line for line in prose(path).splitlines() if re.match(r"\s*([-*] |\d+\. )?<!-- generated: [^\n]+? -->.", line)]

    assert begun == []


def test_the_glossary_gives_each_term_once_in_english_and_in_chinese():
    rows = [line.split(" | ") for line in (HOME / "docs" / "glossary.md").read_text(encoding="utf-8").splitlines()[6:]]

    assert len({row[0] for row in rows}) == len(rows)
    assert all(len(row) == 3 and re.search(r"[\u4e00-\u9fff]", row[1]) for row in rows)


def test_the_last_page_has_a_row_for_every_stage_of_the_reference_ladder():
    rows = re.findall(r"^\| \[`(\w+)`\]", cost_of_locking.PARTS["costs"](), re.MULTILINE)

    assert sorted(rows) == sorted({result.judgement.stage for result in reference.ladder()})


def test_a_promise_counts_as_kept_only_where_no_scenario_broke_it(monkeypatch):
    cell = next(one for one in reference.cells() if one.verdict == "KEPT" and one.claim == "exclusive")
    monkeypatch.setattr(reference, "cells", lambda: [cell, msgspec.structs.replace(cell, verdict="ADMITTED")])

    _, _, row = cost_of_locking.PARTS["keepers"]().splitlines()

    assert row.endswith(f"| no stage | `{cell.stage}` |")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("figur none lost", "no generated part 'figur'. Did you mean 'figure'"),
        ("figure none", "missing a required argument"),
        ("figure non lost", "no stage 'non'. Did you mean"),
        ("figure none lots", "no figure 'lots'. Did you mean 'lost'"),
        ("figure ttl lost 1", "no run of ttl over 1 replicas"),
        ("cell rush tll", "no stage 'tll'. Did you mean 'ttl'"),
        ("cell slow_holder none", "no run of none under slow_holder"),
        ("picture none convoy", "no picture 'none-convoy'"),
        ("shown watchdog work_outlasts_ttl destroyed", "opens on no loss"),
        ("shown watchdog work_outlasts_ttl thief", "no request deletes another's lock"),
    ],
)
def test_a_part_that_cannot_be_made_is_refused_by_name(words, told):
    with pytest.raises(BadInput, match=re.escape(told)):
        generate.fill(f"<!-- generated: {words} --><!-- end -->", where="page.md")


def test_the_story_of_the_theft_names_three_requests_and_the_robbed_had_not_had_its_ttl():
    thief, between, robbed = (figure_values.figure("ttl", "slow_holder", name) for name in ("thief", "between", "robbed"))

    assert len({thief, between, robbed}) == 3
    assert int(figure_values.figure("ttl", "slow_holder", "robbed_after_ms")) < scenario.load("slow_holder").ttl_ms


def test_the_run_against_the_bound_leaves_less_than_a_third_though_each_replica_served_its_share():
    left, third = (int(figure_values.figure("local", "late_writes", name)) for name in ("final", "third"))
    share = figures.result(illustrations()["local-late_writes"]).judgement.danger["least_share_percent"]

    assert left < third
    assert share.needed > 0
    assert share.reached


def test_a_figure_stands_within_its_sentence():
    filled = generate.fill("left <!-- generated: figure incr final -->1<!-- end --> of")

    assert WITHIN_A_SENTENCE.sub("", filled).startswith(f"left {reference.of_stage('incr').judgement.final}<")


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"stage": "non", "scenario": "rush", "shows": "KEPT"}, "no stage 'non'"),
        ({"stage": "none", "scenario": "rus", "shows": "KEPT"}, "no scenario 'rus'"),
        ({"stage": "none", "scenario": "rush", "shows": "LOST"}, "no verdict 'LOST'"),
        (
            {"stage": "none", "scenario": "rush", "shows": "KEPT", "options": {"usres": 3}},
            "no option 'usres'. Did you mean 'users'",
        ),
        ({"stage": "none", "scenario": "rush", "shows": "KEPT", "worts": True}, "unknown field `worts`"),
        ({"stage": "none", "scenario": "rush"}, "missing required field `shows`"),
    ],
)
def test_a_wrong_entry_in_the_list_of_pictures_is_refused_with_its_place(entry, told):
    with pytest.raises(BadInput, match=rf"docs/pictures.toml: .*{re.escape(told)}"):
        figures._checked(entry)


def test_a_run_that_does_not_show_what_the_picture_is_to_show_is_not_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "KEPT", tmp_path / "kept")
    run = made_run(tmp_path / "20260101T000000.000Z-rush-none-1")

    with pytest.raises(BadInput, match=f"came to {judge(run)[0].verdict}, and the picture none-rush is to show KEPT"):
        figures.keep(Illustration(stage="none", scenario="rush", shows="KEPT"), run)
    assert not (tmp_path / "kept").exists()


def test_what_is_kept_of_a_run_is_drawn_as_the_whole_of_it_would_be(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "KEPT", tmp_path / "kept")
    run = made_run(tmp_path / "20260101T000000.000Z-rush-none-1")
    one = Illustration(stage="none", scenario="rush", shows=judge(run)[0].verdict)
    report_run(run)

    figures.keep(one, run)

    assert figures.draw(one).read_bytes() == (run / "timeline.svg").read_bytes()


@pytest.mark.parametrize(("names", "ran"), [(["lua-nested"], ["lua-nested"]), (["all"], list(illustrations())), ([], [])])
def test_what_is_named_is_run_again_by_the_command_that_the_chapter_prints_and_kept(names, ran, monkeypatch):
    kept, told = [], []
    monkeypatch.setattr(rerun_figures, "_run", lambda one: Path(one.name))
    monkeypatch.setattr(rerun_figures, "keep", lambda one, run: kept.append((one.name, run.name)))

    rerun_figures.rerun(names, told.append)

    assert kept == [(name, name) for name in ran]
    assert told == [f"{name}: {' '.join(illustrations()[name].command)}" for name in ran]
    assert all(f".venv/bin/{line.partition(': ')[2]}\n" in every_chapter() for line in told)


def every_chapter() -> str:
    return "".join(chapters.path(stage).read_text(encoding="utf-8") for stage in stages())


def test_a_picture_that_is_not_listed_is_not_run_and_the_nearest_is_named():
    with pytest.raises(BadInput, match="no picture 'lua-nestd'. Did you mean 'lua-nested'".replace(".", r"\.")):
        rerun_figures.rerun(["lua-nestd"], print)


def test_a_cut_timeline_holds_what_is_shown_and_still_tells_who_did_what_to_whom():
    def held(name: str, got: int, lease: int) -> DrawnGrant:
        return DrawnGrant(name, 0, 0, got, got, until=got + 10, lease=lease)

    grants = [held("before", 0, 0), held("victim", 100, 1), held("culprit", 105, 2), held("after", 300, 3)]
    leases = [Life(0, grant.got, gone=grant.until, how="del", holder=place, by=place) for place, grant in enumerate(grants)]
    picture = Timeline(run="r", stage="s", scenario="c", opens=(90, 130), focus=1, grants=4, lost=2, held=grants, lives=leases,
                       losses=[DrawnLoss(3, 0, 1, 0), DrawnLoss(2, 1, 1, 0)])  # fmt: skip

    figures.cut(picture)

    assert [grant.request for grant in picture.held] == ["victim", "culprit"]
    assert [(life.holder, life.by) for life in picture.lives] == [(0, 0), (1, 1)]
    assert [grant.lease for grant in picture.held] == [0, 1]
    assert (picture.focus, picture.losses) == (0, [DrawnLoss(1, 0, 1, 0)])
    assert (picture.grants, picture.lost) == (4, 2)


def test_the_worst_write_whose_victim_is_known_is_opened_on():
    grants = [
        DrawnGrant(name, 0, 0, got, got, wrote_at=got + 5, until=got + 10) for name, got in (("a", 0), ("b", 50), ("c", 90))
    ]
    picture = Timeline(run="r", stage="s", scenario="c", end=200, focus=0, held=grants,
                       losses=[DrawnLoss(1, 0, 1, 0), DrawnLoss(2, 0, 7, 0), DrawnLoss(2, NEVER, 9, 0)])  # fmt: skip

    figures.open_on_the_worst(picture)

    assert picture.losses[picture.focus].destroyed == 7


def test_a_chapter_is_begun_with_all_its_parts_and_never_over_one_that_is_there(tmp_path, monkeypatch):
    monkeypatch.setattr(chapters, "FOLDER", tmp_path)
    monkeypatch.setattr(chapters, "HOME", tmp_path)

    begun = chapters.begin("ttl")

    assert generate.fill(begun.read_text(encoding="utf-8")).count("<!-- generated: ") == len(chapters.PLACES)
    with pytest.raises(BadInput, match=r"ttl\.md exists already"):
        chapters.begin("ttl")
    with pytest.raises(BadInput, match="no stage 'tll'"):
        chapters.begin("tll")


@pytest.mark.parametrize("one", illustrations().values(), ids=illustrations())
def test_a_kept_timeline_holds_no_more_than_is_shown(one):
    picture = load(one.folder / "timeline.json")
    since, until = picture.opens
    told = {fault.request for fault in picture.faults}

    outside = [grant for grant in picture.held if grant.got > until or grant.until < since]

    assert [grant.request for grant in outside if grant.request not in told] == []
