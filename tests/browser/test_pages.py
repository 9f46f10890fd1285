"""The pages of runs, of the matrix and of the site in a real browser: they are accessible, and their links and filters work."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lab.judge.judgement import Judgement
from lab.language import NAMES, Language
from lab.own_lock.page import TestedCell, TestedClaim, TestedLock, write_page
from lab.paths import REFERENCE
from lab.report import comparison, reference, site
from lab.report.html import path_in
from lab.report.run_words import RunWords
from lab.ui.static_server import Site
from tests.command import run
from tests.kept_runs import folders
from tools.book import generate

USERS, REQUESTS = 20, 300  # of the new run: enough that some increments are lost


@pytest.fixture(scope="session")
def reports(made_once) -> Path:
    """Return the folder of a site with a new run, which loses increments, and with the reference's runs."""

    def make(home: Path) -> None:
        assert run("rush", "none", home, draw=True, requests=REQUESTS, users=USERS).verdict["requests"] == REQUESTS
        reports = home / "reports"
        shutil.copytree(REFERENCE, reports / "reference", ignore=shutil.ignore_patterns("*.html"))
        folders(reports / "runs")
        site.write(reports)

    return made_once("site", make) / "reports"


@pytest.fixture
def lost(reports) -> Path:
    """Return the page of the new run that lost increments."""
    return max((reports / "runs").glob("2*-rush-none-*")) / "report.html"  # the newest: it was just made


@pytest.fixture
def served(reports) -> Iterator[str]:
    """Yield the address of the runs at a server like that of `lab serve`."""
    with closing(Site(reports, 0).start()) as server:
        yield f"{server.address}/runs"


def test_run_page_in_chinese(browser, lost, served):
    """The button of a served page leads to the same page in Chinese, drawn at that moment; the browser remembers the choice."""

    def title(language: Language) -> str:
        return RunWords(Judgement.load(lost.parent), 0, language).statements[0]

    assert not path_in(lost, Language.CHINESE).exists()
    assert browser.open(lost).get_by_role("link", name="中文").count() == 0  # without a server, no click can draw a page

    address = f"{served}/{lost.parent.name}/report.html"
    page = browser.open(address)
    page.get_by_role("link", name="中文").click()
    page.wait_for_url("**/report.zh.html?lang=zh")
    assert page.locator("h1").inner_text() == title(Language.CHINESE)
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    page.locator("details.more > summary").click()
    browser.look(page, "run-zh", is_contrast_known=True)

    page.goto(address)
    page.wait_for_url("**/report.zh.html?lang=zh")
    page.get_by_role("link", name="English").click()
    page.wait_for_url("**/report.html?lang=en")
    assert page.locator("h1").inner_text() == title(Language.ENGLISH)

    page.goto(address.replace("report.html", "report.zh.html"))  # a Chinese address stays Chinese
    assert page.locator("h1").inner_text() == title(Language.CHINESE)


def in_both(browser, english: Path, name: str) -> None:
    """Check that the page is accessible in each language, and that its button leads to the other language and back."""
    page = browser.open(english)
    browser.look(page, name)
    page.get_by_role("link", name=NAMES[Language.CHINESE].button, exact=True).click()
    page.wait_for_url("**/*.zh.html?lang=zh")
    assert re.search(r"[\u4e00-\u9fff]", page.locator("h1").inner_text())
    browser.look(page, f"{name}-zh", sizes=("phone",), is_contrast_known=True)
    page.get_by_role("link", name=NAMES[Language.ENGLISH].button, exact=True).click()
    page.wait_for_url("**/*.html?lang=en")


def test_run_page_begins_with_its_claim(browser, lost):
    """A run's page begins with the claim and a bar in proportion to the counter, and is accessible, folded and unfolded."""
    page = browser.open(lost)
    parts = page.locator(".split .part")
    widths = [one.bounding_box()["width"] for one in parts.all()]
    verdict = json.loads((lost.parent / "verdict.json").read_text(encoding="utf-8"))
    assert widths[0] / sum(widths) == pytest.approx(verdict["final"] / verdict["requests"], abs=0.02)
    assert page.locator(".tested").bounding_box()["y"] < 500

    browser.look(page, "run")
    page.locator("details.more > summary").click()
    browser.look(page, "run-open", within="details.more")


@pytest.fixture(scope="session")
def pages(made_once) -> Path:
    """Return the folder with the pages of the matrix, as `make site` writes them."""
    return made_once("pages", generate.matrix_pages)


def test_matrix_page_is_accessible(browser, pages):
    in_both(browser, pages / "index.html", "matrix")


@pytest.mark.trial
def test_ladder_page_is_accessible(browser, tmp_path):
    in_both(browser, comparison.compare(reference.ladder(), tmp_path)[0], "ladder")


def test_page_of_a_tested_lock(browser, tmp_path):
    """The page of a tested lock is accessible and begins with the broken claim; no text sticks out of a schedule's picture."""
    for language in Language:
        shutil.copy(path_in(REFERENCE / "explore" / "uuid.svg", language), tmp_path)
    cell = TestedCell(stage="x", scenario="release_race", claim="exclusive", verdict="BROKEN", run="one")
    again = {"orders": "breaks", "schedule": "uuid.svg", "again": "lab explore --replay uuid:A4BpAt3000BrAA"}
    again |= {"between": ["x.py:3: a < b", "x.py:4: c"], "mended_by": "lua"}
    claims = [TestedClaim(claim="exclusive", cells=[cell], **again), TestedClaim(claim="fair", orders="not_looked_at")]
    tested = TestedLock(
        lock="./x.py", stage="x", claims=claims, notes=[dict.fromkeys(Language, "Not run")], command="lab test ./x.py"
    )
    page = write_page(tested, tmp_path, tmp_path / "runs")

    in_both(browser, page, "tested")
    for path in (page, path_in(page, Language.CHINESE)):
        ends = browser.open(path).evaluate(ENDS)
        assert len(ends) > 10
        assert max(ends) <= 1
    text = page.read_text(encoding="utf-8")
    parts = ("Two requests are inside the lock at once", "x.py:3: a &lt; b", "lab diff uuid lua", "<figure", "<table")
    assert [text.index(part) for part in parts] == sorted(map(text.index, parts))


# returns the right end of each text of a picture, as a share of the picture's width
ENDS = """[...document.querySelectorAll("figure svg text")].map((one) => {
  const { x, width } = one.getBBox();
  return (x + width) / one.ownerSVGElement.viewBox.baseVal.width;
})"""


def test_matrix_cell_opens(browser, pages):
    """A cell opens by mouse and by keyboard, with its command; arrows move, and closing leads back to the cell."""
    page = browser.open(pages / "index.html")
    row = page.locator("tr[data-scenario=frozen_holder]")
    row.get_by_role("button", name="lost").first.click()
    drawer = page.locator("#drawer")
    assert "under frozen holder" in drawer.locator("h2").inner_text()
    assert ".venv/bin/lab run frozen_holder --stage " in drawer.locator(".command code").first.inner_text()
    browser.look(page, "matrix-drawer", ("wide",), within="#drawer")

    page.keyboard.press("Escape")
    page.wait_for_function("location.hash === ''")  # the close event, which comes a moment later, gives the focus back
    assert "lost" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    drawer.locator("h2", has_text="under frozen before write").wait_for()


def test_a_link_opens_a_cell(browser, pages):
    """A link to a cell outside the core opens and marks the cell, also after a reload; a closed cell leaves the address."""
    page = browser.open(f"{(pages / 'index.html').as_uri()}#uuid/late_writes")
    for _ in range(2):
        assert page.locator("#drawer h2").inner_text() == "uuid under late writes"
        assert page.locator("tr[data-scenario=late_writes] .linked").is_visible()
        page.reload()
    page.keyboard.press("Escape")
    page.wait_for_function("location.hash === ''")  # the dialog's close event comes a moment later


def test_matrix_shows_a_part(browser, pages):
    """The matrix shows its core, all of it, or the scenarios in which two stages differ; on a phone it shows one stage."""
    page = browser.open(pages / "index.html")
    rows = page.locator("tr[data-scenario]:visible")
    core = rows.count()
    page.get_by_label("all", exact=True).check()
    assert rows.count() > 3 * core

    page.get_by_label("only where this stage").select_option("watchdog")
    page.get_by_label("and this one differ").select_option("fencing")
    assert 0 < rows.count() < 3 * core
    assert page.locator("th.name:visible").count() == 2
    assert f"watchdog and fencing differ in {rows.count()} of " in page.locator("#shown").inner_text()

    phone = browser.open(page.url, size="phone", touch=True)
    phone.get_by_label("stage", exact=True).select_option("lua")
    phone.get_by_role("button", name="frozen holder").tap()
    assert phone.locator("#drawer h2").inner_text() == "lua under frozen holder"


def names(page) -> list[str]:
    """Return the names of the runs that the site shows."""
    return page.locator("#table tbody tr:not([hidden]) td:first-child > :first-child").all_inner_texts()


def test_site_is_accessible(browser, reports):
    in_both(browser, reports / "index.html", "site")


def test_filters_are_kept_in_the_address(browser, reports):
    """The site shows the runs that pass the filters, also if none does, and the address keeps the filters."""
    page = browser.open(reports / "index.html")
    whole = names(page)
    assert whole[0] == "none"  # the newest
    assert len(whole) == 1 + len(reference.ladder())

    page.get_by_label("verdict", exact=True).select_option("ADMITTED")
    page.get_by_label("stage", exact=True).select_option("none")
    found = names(page)
    assert set(found) == {"none", "none, 1 replica"}
    assert page.locator("#shown").inner_text() == f"{len(found)} of {len(whole)} runs"

    again = browser.open(page.url)
    assert names(again) == found
    again.get_by_role("button", name="Show all").click()
    again.wait_for_function("!location.href.includes('#')")  # a moment after the click, when the form is empty
    assert names(again) == whole

    nobody = browser.open(f"{again.url}#stage=nobody")
    assert names(nobody) == []
    assert nobody.locator("#shown").inner_text().startswith("0 of ")


def test_links_to_a_run_and_back(browser, reports):
    """Links lead from the site to a run, and from there back to the runs of its stage."""
    page = browser.open(reports / "index.html")
    page.locator("#table").get_by_role("link", name="none", exact=True).click()
    page.wait_for_url("**/report.html*")
    assert page.locator("h1").inner_text().startswith("none: ")

    page.get_by_role("link", name="Runs of none").click()
    page.wait_for_url("**/index.html#stage=none")
    assert set(names(page)) == {"none", "none, 1 replica"}
