"""The pages in a real browser: read, moved and looked at as a reader does it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from lab.language import NAMES, Language
from lab.own_lock.page import TestedCell, TestedClaim, TestedLock, write_page
from lab.paths import REFERENCE
from lab.report import run_data, site
from lab.report.chart import LINES
from lab.report.comparison import runs_in
from lab.report.html import named
from tests.command import run, wait_for
from tests.sampled import sampled

TOOK_MS = """() => {
  const since = performance.now();
  document.getElementById("filters").dispatchEvent(new Event("change"));
  document.body.offsetHeight;
  return performance.now() - since;
}"""
USERS, REQUESTS = 20, 300  # of the runs that the tests make: enough to lose some
AXIS_Y = 334  # of the pictures drawn in the page


@pytest.fixture(scope="session")
def reports(made_once) -> Path:
    """A site of two runs that were just made, one that loses and one that does not, and of the reference's."""

    def make(home: Path) -> None:
        for stage in ("none", "lua"):
            assert run("rush", stage, home, draw=True, requests=REQUESTS, users=USERS).verdict["requests"] == REQUESTS
        reports = home / "reports"
        shutil.copytree(REFERENCE, reports / "reference")
        for folder in runs_in(REFERENCE):
            shutil.copytree(folder, reports / "runs" / folder.name)
        site.write(reports)

    return made_once("site", make) / "reports"


@pytest.fixture
def lost(reports) -> Path:
    """The page of a run that lost increments."""
    return max((reports / "runs").glob("2*-rush-none-*")) / "report.html"  # the newest: it was just made


def test_run_page_in_chinese(browser, lost):
    """The button leads to the same page in Chinese, which the browser remembers; everybody can read that as well."""
    page = browser.open(lost)
    page.get_by_role("link", name="中文").click()
    assert page.url.endswith("/report.zh.html?lang=zh")
    assert page.locator("h1").inner_text() == "none：两个请求同时进了临界区"
    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    page.locator("details.more > summary").click()
    browser.look(page, "run-zh", is_contrast_known=True)

    page.goto(lost.as_uri())
    page.wait_for_url("**/report.zh.html?lang=zh")
    page.get_by_role("link", name="English").click()
    assert page.locator("h1").inner_text() == "none: two requests are inside at once"

    page.goto(lost.with_name("report.zh.html").as_uri())  # a link of a Chinese page, whatever was chosen
    assert page.locator("h1").inner_text() == "none：两个请求同时进了临界区"


def in_both(browser, english: Path, name: str) -> None:
    """Everybody can read the page in each language, and the button leads from one to the other."""
    page = browser.open(english)
    browser.look(page, name)
    page.get_by_role("link", name=NAMES[Language.CHINESE].button, exact=True).click()
    page.wait_for_url("**/*.zh.html?lang=zh")
    assert re.search(r"[\u4e00-\u9fff]", page.locator("h1").inner_text())
    browser.look(page, f"{name}-zh", sizes=("phone",), is_contrast_known=True)
    page.get_by_role("link", name=NAMES[Language.ENGLISH].button, exact=True).click()
    page.wait_for_url("**/*.html?lang=en")


def test_run_page_begins_with_its_claim(browser, lost):
    """Everybody can read it: claim and bar are in sight, and the curves are drawn when a reader opens what is folded."""
    page = browser.open(lost)
    parts = page.locator(".split .part")
    widths = [one.bounding_box()["width"] for one in parts.all()]
    verdict = json.loads((lost.parent / "verdict.json").read_text(encoding="utf-8"))
    assert widths[0] / sum(widths) == pytest.approx(verdict["final"] / verdict["requests"], abs=0.02)
    assert page.locator(".tested").bounding_box()["y"] < 500
    assert page.locator("#curves svg").count() == 0

    browser.look(page, "run")
    page.locator("details.more > summary").click()
    page.locator("#curves svg[role=img]").last.wait_for()
    assert page.locator("#curves svg[role=img]").count() == 2  # a stage without a lock has no waits
    browser.look(page, "run-open", within="details.more")


@pytest.mark.parametrize("name", sampled(["", "matrix", "sweep-retry"], ["matrix"]))
def test_comparison_page_is_accessible(browser, name):
    """Everybody can read a page of many runs."""
    in_both(browser, REFERENCE / name / "index.html", name or "comparison")


def test_page_of_a_tested_lock(browser, tmp_path):
    """Everybody can read what a lock was tested for, and the picture of a schedule ends where its words end."""
    for language in Language:
        shutil.copy(named(REFERENCE / "explore" / "uuid.svg", language), tmp_path)
    cell = TestedCell(stage="x", scenario="release_race", claim="exclusive", verdict="BROKEN", run="one")
    again = {"orders": "breaks", "schedule": "uuid.svg", "again": "lab replay uuid:A4BpAt3000BrAA"}
    claims = [TestedClaim(claim="exclusive", cells=[cell], **again), TestedClaim(claim="fair", orders="not_looked_at")]
    tested = TestedLock(lock="./x.py", stage="x", claims=claims, notes=["its TTL: whole seconds"], command="lab test ./x.py")
    page = write_page(tested, tmp_path, tmp_path / "runs")

    in_both(browser, page, "tested")
    for path in (page, named(page, Language.CHINESE)):
        ends = browser.open(path).evaluate(ENDS)
        assert len(ends) > 10
        assert max(ends) <= 1


# where each text of a picture ends, as a share of the picture's width
ENDS = """[...document.querySelectorAll("figure svg text")].map((one) => {
  const { x, width } = one.getBBox();
  return (x + width) / one.ownerSVGElement.viewBox.baseVal.width;
})"""


def test_matrix_cell_opens(browser):
    """A cell opens by mouse and by keyboard, with its command; arrows move, and closing leads back to the cell."""
    page = browser.open(REFERENCE / "matrix" / "index.html")
    row = page.locator("tr[data-scenario=frozen_holder]")
    row.get_by_role("button", name="lost").first.click()
    drawer = page.locator("#drawer")
    assert "under frozen holder" in drawer.locator("h2").inner_text()
    assert ".venv/bin/lab run frozen_holder --stage " in drawer.locator(".command code").first.inner_text()
    browser.look(page, "matrix-drawer", ("wide",), within="#drawer")

    page.keyboard.press("Escape")
    assert not drawer.is_visible()
    assert "lost" in page.evaluate("document.activeElement.textContent")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    drawer.locator("h2", has_text="under frozen before write").wait_for()


def test_matrix_shows_a_part(browser):
    """The matrix shows its core, all of it, or the scenarios in which two stages differ; a phone shows one stage."""
    page = browser.open(REFERENCE / "matrix" / "index.html")
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
    """The runs that are shown, as they are called."""
    return page.locator("#table tbody tr td:first-child .run > span :first-child").all_inner_texts()


def test_the_site_can_be_read_by_everybody(browser, reports):
    in_both(browser, reports / "index.html", "site")


def test_filters_are_kept_in_the_address(browser, reports):
    """The site shows the runs that pass the filters, also where none does, and the address keeps the filters."""
    page = browser.open(reports / "index.html")
    whole = names(page)
    assert whole[:2] == ["lua", "none"]
    assert len(whole) == 2 + len(runs_in(REFERENCE))

    page.get_by_label("verdict", exact=True).select_option("ADMITTED")
    page.get_by_label("stage", exact=True).select_option("none")
    found = names(page)
    assert set(found) == {"none", "none, 1 replica"}
    assert page.locator("#shown").inner_text() == f"{len(found)} of {len(whole)} runs"

    again = browser.open(page.url)
    assert names(again) == found
    again.get_by_role("button", name="Show all").click()
    assert names(again) == whole
    assert "#" not in again.url

    nobody = browser.open(f"{again.url}#stage=nobody")
    assert names(nobody) == []
    assert nobody.locator("#shown").inner_text().startswith("0 of ")


def test_links_to_a_run_and_back(browser, reports):
    """Links lead from the site to a run and back."""
    page = browser.open(reports / "index.html")
    page.locator("#table").get_by_role("link", name="none", exact=True).click()
    assert page.locator("h1").inner_text().startswith("none: two requests are inside at once")

    page.get_by_role("link", name="Runs of none").click()
    wait_for(lambda: names(page))  # the page fills its table late
    assert page.url.endswith("/index.html#stage=none")
    assert set(names(page)) == {"none", "none, 1 replica"}

    page.locator("#matrix").get_by_role("link").first.click()
    assert page.locator("h1").inner_text().startswith("none: two requests are inside at once")


def test_matrix_links_to_an_undrawn_run(browser, reports):
    """A cell of the matrix whose run has no page leads to the row of that run."""
    page = browser.open(reports / "index.html")
    page.locator("#matrix a[href='#stage=ttl&scenario=rush']").click()

    wait_for(lambda: names(page) == ["ttl"])
    assert page.locator("#runs-title").is_visible()


def test_ticked_runs_are_compared(browser, reports):
    """The runs that a reader ticks are drawn on the same axes."""
    page = browser.open(reports / "index.html")
    button = page.get_by_role("button", name="Compare", exact=True)
    page.get_by_role("checkbox", name="compare lua under rush").first.check()
    assert button.is_disabled()

    page.get_by_role("checkbox", name="compare none under rush").first.check()
    button.click()
    page.locator("#comparison svg[role=img]").last.wait_for()
    assert page.locator("#comparison h2").inner_text() == "2 runs compared"
    pictures = page.locator("#comparison svg[role=img]")
    assert pictures.count() == 3
    counters = page.evaluate(
        "[...document.querySelectorAll('#comparison figure:first-of-type path')].map((one) => one.getAttribute('d'))"
    )
    assert all(len(path) > 5 and "NaN" not in path for path in counters)
    assert "the counter holds" in pictures.first.get_attribute("aria-label")
    browser.look(page, "ticked", sizes=("phone",), within="#comparison")

    again = browser.open(page.url)
    again.locator("#comparison svg[role=img]").last.wait_for()
    assert again.locator("#comparison figcaption").all_inner_texts() == page.locator("#comparison figcaption").all_inner_texts()
    again.get_by_role("button", name="Close the comparison").click()
    assert "compare" not in again.url


def heights(page, picture: int, colour: str) -> list[float]:
    """How high above its axis a solid curve of a picture lies, corner by corner, as shares of its highest corner."""
    paths = page.locator("#comparison svg[role=img]").nth(picture).locator(f"path[style*='stroke: {colour.lower()}']")
    solid = [one.get_attribute("d") for one in paths.all() if "dasharray: none" in one.get_attribute("style")]
    corners = [float(number) for number in re.findall(r"(?:V|[ML][\d.]+ )([\d.]+)", solid[0])]
    above = [AXIS_Y - corner for corner in corners]
    return [height / max(above) for height in above]


def rates(curves: run_data.Series, steps: int) -> tuple[list[float], list[float]]:
    """Return the edges of about so many time steps in seconds, and the acknowledged requests per second in each step."""
    times, totals = [0.0, *curves.time_s], [0, *curves.acknowledged]
    every = max(1, len(times) // steps)
    times, totals = times[::every], totals[::every]
    return times, [(b - a) / (until - since) for a, b, since, until in zip(totals, totals[1:], times, times[1:], strict=False)]


def test_the_curves_are_those_of_the_runs(browser, reports):
    folders = [one for one in runs_in(REFERENCE) if one.name.split("-")[2] in ("local", "lua")]
    page = browser.open(f"{(reports / 'index.html').as_uri()}#compare={','.join(one.name for one in folders)}")
    page.locator("#comparison svg[role=img]").last.wait_for()
    first = run_data.load(folders[0]).series

    values = [0, *first.value]
    assert heights(page, 0, LINES[0]) == pytest.approx([value / max(values) for value in values], abs=0.01)
    _, per_s = rates(first, 24)
    speeds = [*per_s, per_s[-1]]
    assert heights(page, 1, LINES[0]) == pytest.approx([speed / max(speeds) for speed in speeds], abs=0.01)
    assert heights(page, 2, LINES[0]) == pytest.approx(first.wait_share, abs=0.01)


def test_labels_and_missing_runs(browser, reports):
    """Runs of the same stage have different labels, and the page reports a run that is gone."""
    page = browser.open(reports / "index.html")
    for tick in page.get_by_role("checkbox", name="compare none under rush").all():
        tick.check()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.locator("#comparison svg[role=img]").last.wait_for()
    labels = page.locator("#comparison tbody td:first-child").all_inner_texts()
    assert {label.strip() for label in labels} == {"none, 100 users, 5000 requests", f"none, {USERS} users, {REQUESTS} requests"}

    other = browser.open(f"{page.url},20000101T000000.000Z-rush-gone-1")
    other.locator("#comparison svg[role=img]").last.wait_for()
    assert "1 of the runs in the address is not in this folder" in other.locator("#comparison .note").inner_text()


def test_site_by_keyboard(browser, reports):
    """The site works with the keyboard alone."""
    page = browser.open(reports / "index.html")
    for words in ("lua", "none"):
        page.get_by_role("checkbox", name=f"compare {words} under rush").first.focus()
        page.keyboard.press("Space")
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.do") == "compare":
            break
    page.keyboard.press("Enter")
    page.locator("#comparison svg[role=img]").last.wait_for()

    assert page.evaluate("document.activeElement.id") == "comparison-title"


def test_site_of_a_thousand_runs_is_quick(browser, reports, tmp_path):
    """The site opens and filters quickly with a thousand runs."""
    one = runs_in(REFERENCE)[0]
    for number in range(1000):
        folder = tmp_path / "runs" / f"{one.name}{number:04}"
        folder.mkdir(parents=True)
        for path in one.iterdir():
            (folder / path.name).write_bytes(path.read_bytes().replace(one.name.encode(), folder.name.encode()))
    few, many = browser.open(reports / "index.html"), browser.open(site.write(tmp_path))

    assert many.locator("#shown").inner_text() == "1000 runs"
    assert many.locator("#table tbody tr").count() < 200  # the others when they are asked for
    many.get_by_role("button", name="more of").click()
    assert many.locator("#table tbody tr").count() == 1000
    assert min(many.evaluate(TOOK_MS) for _ in range(5)) < 20 * max(1, *(few.evaluate(TOOK_MS) for _ in range(5)))
