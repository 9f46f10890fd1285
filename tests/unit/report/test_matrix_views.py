"""Test the matrix: the places of its rows and columns, the word and the rounds of each cell, and the cells that are quoted."""

from app.locks import stages
from lab.language import Language
from lab.report import matrix_page, reference
from lab.report.chart import Mark
from lab.report.matrix import Cell, Origin
from lab.report.matrix_layout import CORE_SCENARIOS, CORE_STAGES, completed, layout, mark, marks, written
from lab.scenario import reader
from lab.story.say import text
from tests.every import every
from tests.pages import assert_self_contained, cells_of
from tools.book import generate


def cell(stage="lua", name="rush", verdict="ADMITTED", claim="exclusive", **about):
    return Cell(stage=stage, scenario=name, claim=claim, verdict=verdict, **about)


@every(
    "one, wanted",
    [
        (cell(verdict="KEPT"), Mark.KEPT),
        (cell(verdict="KEPT", failed=9), Mark.KEPT),
        (cell(verdict="KEPT", lost=3), Mark.OTHERWISE),
        (cell(lost=3, failed=9), Mark.LOST),
        (cell(verdict="BROKEN", lost=3), Mark.LOST),
        (cell(claim="counts_once", duplicated=2), Mark.LOST),
        (cell(claim="fence_outlives_restart", failed=4), Mark.STUCK),
        (cell(failed=9), Mark.STUCK),
        (cell(claim="prompt_handover"), Mark.LATE),
        (cell(claim="all_or_nothing"), Mark.HALF),
        (cell(verdict="VOID"), Mark.NOTHING),
        (cell(verdict="UNSEEN"), Mark.NOTHING),
        (cell(verdict="", reason="does not fit"), Mark.IMPOSSIBLE),
        (cell(verdict="", reason="not run: no etcd", missing=["etcd"]), Mark.UNTRIED),
        (cell(verdict=""), Mark.UNTRIED),
    ],
)
def test_word_of_a_cell(one, wanted):
    """Each cell has one word, and an untried cell has another word than an impossible one."""
    assert mark(one) is wanted


def test_every_scenario_has_one_family():
    """Each scenario has one row in ``docs/expected.toml``."""
    listed = [name for names in written()["expected"].values() for name in names]

    assert sorted(listed) == reader.names()
    assert set(CORE_SCENARIOS) <= set(listed)
    assert set(CORE_STAGES) <= set(stages())


def test_whole_lab_is_in_the_matrix():
    """A cell that was not measured is untried if its scenario fits its stage, and otherwise impossible."""
    found = marks(completed([cell(verdict="KEPT")]))

    assert len(found) == len(reader.names()) * len(stages())
    assert found["rush", "lua"] is Mark.KEPT
    assert found["rush", "uuid"] is Mark.UNTRIED
    assert found["release_race", "none"] is Mark.IMPOSSIBLE


MADE = {
    ("rush", "lua"): Mark.KEPT,
    ("rush", "uuid"): Mark.KEPT,
    ("rush", "ttl"): Mark.KEPT,
    ("nested", "lua"): Mark.LATE,
    ("nested", "uuid"): Mark.LATE,
    ("nested", "ttl"): Mark.STUCK,
}


def test_order_of_the_columns():
    """The stages of a group are in the order of the ladder, the scenarios of a family in that of docs/expected.toml."""
    plan = layout(MADE)

    assert plan.columns == {"one_key": ["ttl", "uuid", "lua"]}
    assert plan.rows == {"at_once": ["rush"], "again": ["nested"]}


def test_untried_is_not_impossible():
    """Untried stages have their columns; rows and columns of impossible cells alone are left out."""
    made = {("rush", "lua"): Mark.UNTRIED, ("rush", "uuid"): Mark.UNTRIED, ("nested", "lua"): Mark.IMPOSSIBLE}
    made |= {("rush", "none"): Mark.KEPT, ("nested", "none"): Mark.IMPOSSIBLE, ("nested", "local"): Mark.IMPOSSIBLE}

    plan = layout(made)

    assert plan.all_columns == ["none", "uuid", "lua"]
    assert plan.all_rows == ["rush"]


def test_opened_cell(tmp_path):
    """An opened cell has its counts, its command, the decision of all orders, and links to the pages that exist."""
    run = tmp_path / "runs" / "a-run"
    run.mkdir(parents=True)
    (run / "report.html").touch()
    figure = tmp_path / "chapters" / "lua-rush"
    figure.mkdir(parents=True)
    (figure / "timeline.svg").touch()
    (tmp_path / "matrix").mkdir()
    one = cell(lost=3, failed=2, unknown=1, run="a-run", reason="the reason")

    decided = {Language.ENGLISH: {"lua": {"exclusive": "breaks with 1 pause"}}}
    levels = {("lua", "exclusive"): "../play/a-level.html"}
    page, _ = matrix_page.write_page([one], tmp_path / "matrix", Origin(), decided=decided, levels=levels)

    assert_self_contained(page)
    (found,) = cells_of(page)
    assert (found["outcome"], found["why"], found["counts"]) == ("ADMITTED: lost 3", "The reason.", [3, 0, 2, 1])
    assert (found["orders"], found["options"]) == ("breaks with 1 pause", " --requests 1000")
    pages = ["../runs/a-run/report.html", "../chapters/lua-rush/timeline.svg", "../play/a-level.html?lang=en"]
    assert [href for _, href in found["links"]] == pages


def test_reasons_are_kept_as_facts():
    """The cells of the reference have their verdicts as facts, from which the reason is written in both languages."""
    judged = [one for one in generate.cells() if one.verdict]

    assert [(one.scenario, one.stage) for one in judged if one.grounds is None] == []
    assert {one.grounds.verdict for one in judged} == {one.verdict for one in judged}


ORIGIN = Origin(judge="aaa", commit="ccc+", versions={"etcd": "etcd Version: 3.4.23"})
CELLS = [
    Cell(stage="lua", scenario="rush", claim="exclusive", verdict="KEPT", rounds={"KEPT": 3, "VOID": 2}),
    Cell(stage="none", scenario="rush", claim="exclusive", verdict="BROKEN", lost=9, rounds={"BROKEN": 5}),
    Cell(stage="local", scenario="rush", claim="exclusive", reason="does not fit"),
]


def test_page_has_origin_and_rounds(tmp_path):
    """An opened cell says how often its verdict came, and the page has the origin of the matrix."""
    page, _ = matrix_page.write_page(CELLS, tmp_path, ORIGIN)

    found = {one["stage"]: one for one in cells_of(page)}
    assert found["lua"]["rounds"] == text("matrix_page", "rate", n=5, seen=3, verdict="KEPT", low=23, high=88)
    assert (found["local"]["outcome"], found["local"]["why"]) == (
        text("cell_mark", "impossible"),
        text("matrix_page", "does_not_fit"),
    )
    html = page.read_text(encoding="utf-8")
    assert f'✓<span class="order">{text("matrix_page", "seen_of", seen=3, all=5)}</span>' in html
    assert f'− {text("cell_mark", "lost")}<span class="order">{text("matrix_page", "broken")}</span>' in html
    assert ORIGIN.sentence() in html


def test_kept_cells_are_of_todays_lab():
    """Each kept cell tests the claim that its scenario tests today, fits its stage, and was judged by what the stage promises."""
    shelf, ladder = {name: reader.load(name) for name in reader.names()}, stages()

    for one in reference.cells():
        scenario, stage = shelf[one.scenario], ladder[one.stage]
        assert (one.claim, scenario.misfit(stage)) == (scenario.tests.name, None), one
        assert one.verdict not in (("ADMITTED",) if scenario.tests in stage.claims else ("KEPT", "BROKEN")), one
