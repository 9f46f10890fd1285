"""The live page and Locust's page in a real browser, from the prediction to the verdict."""

from __future__ import annotations

import csv
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any

import pytest
from PIL import Image

from lab.language import Language
from lab.ui import question
from lab.ui.live_server import LiveServer
from lab.ui.live_state import LiveState
from tests.command import wait_for
from tests.locust_page import Ui
from tests.sampled import sampled


@pytest.fixture
def lab(tmp_path) -> Iterator[Ui]:
    one = Ui(tmp_path)
    yield one
    if one.process.poll() is None:
        one.end()


@pytest.fixture(scope="module")
def resting(tmp_path_factory) -> Iterator[Ui]:
    """Yield a ``lab ui`` that all tests without a run share."""
    one = Ui(tmp_path_factory.mktemp("resting"))
    yield one
    one.end()


def start(page, stage: str) -> None:
    """Fill in Locust's form and press Start, as a reader does."""
    page.get_by_label("Number of users").fill("20")
    page.get_by_label("Ramp up").fill("20")
    page.locator("select[name=stage]").wait_for()  # its section opens by itself
    choice = page.locator("select[name=stage] option").filter(has_text=f"{stage}:").first.get_attribute("value")
    page.locator("select[name=stage]").select_option(choice)
    page.locator("input[name=requests]").fill("300")
    page.get_by_role("button", name="Start").click()


def number(page, name: str) -> int:
    return int(page.locator(f"#{name}").inner_text().replace("\u2009", ""))


def test_locust_starts_and_the_live_page_follows(browser, lab):
    """Two runs are started in Locust's page: its tab, its bar, its picture and the live page report the same of each run."""
    locust, live = browser.open(lab.address), browser.open(lab.live)
    live.locator("#to-start").wait_for()
    start(locust, "none")
    live.locator("#starts li").first.wait_for(timeout=30_000)
    lost = outcome(browser, live, "none")
    assert 0 < lost < 300
    locust.get_by_role("tab", name="Lost increments").click()
    row = locust.locator("tbody tr", has_text="ADMITTED")
    row.wait_for()
    cells, bar = row.locator("td").all_inner_texts(), locust.locator("#lab-verdict")
    assert cells[:5] == ["none", "rush", "300", live.locator("#counter").inner_text(), str(lost)]
    bar.filter(has_text=f"{lost} of 300").wait_for()
    assert bar.locator("a").get_attribute("href") == row.locator("a").get_attribute("href")
    assert browser.open(row.locator("a").get_attribute("href")).title().startswith("none: ")
    heights = [drawn(locust)]

    locust.get_by_role("button", name="New").click()
    wait_for(lambda: locust.get_by_label("Number of users").input_value() == "0")  # not the number of users of the run before
    assert locust.locator("select[name=stage]").input_value().startswith("none:")  # as in the last run
    start_in_sight(locust)
    start(locust, "lua")
    assert outcome(browser, live, "lua") == 0
    locust.locator("tbody tr", has_text="KEPT").wait_for()  # without a reload
    wait_for(lambda: drawn(locust) > heights[0])
    live.locator("#next").click()
    wait_for(lambda: live.locator("#lost").evaluate("(one) => one.checkVisibility() && one.naturalHeight") > heights[0])
    assert live.locator("#speeds").inner_text().startswith("Increments a second, with none lost: lua ")
    with live.expect_download() as sheet:
        live.get_by_role("link", name="Result sheet").click()
    rows = list(csv.DictReader(sheet.value.path().read_text(encoding="utf-8-sig").splitlines()))
    assert [(row["stage"], row["verdict"], row["lost"]) for row in rows] == [
        ("none", "ADMITTED", str(lost)),
        ("lua", "KEPT", "0"),
    ]
    with live.expect_download() as picture:
        live.get_by_role("button", name="Save as PNG").click()
    with Image.open(picture.value.path()) as saved:
        assert saved.width > 1000
    browser.look(live, "live-seen-so-far", sizes=())


def drawn(locust) -> int:
    """Return the height of the picture in Locust's tab, in pixels: it grows with each run."""
    height: int = wait_for(lambda: locust.locator("#lab-lost").evaluate("(one) => one.checkVisibility() && one.naturalHeight"))
    return height


def outcome(browser, live, stage: str) -> int:
    """Wait for the verdict and the drawing of the loss on the live page. Return how many increments it reports as lost."""
    live.locator("#phase").filter(has_text=f"{stage} under rush: ended.").wait_for(timeout=60_000)
    live.locator("#loss figure svg").first.wait_for(state="attached")
    browser.look(live, f"live-after-{stage}", sizes=())
    assert number(live, "acknowledged") - number(live, "counter") == number(live, "gap")
    return number(live, "gap")


def start_in_sight(locust) -> None:
    """Wait until the list of scenarios, Start below it and the lab's bar below Start are all in sight on a small screen."""
    locust.set_viewport_size({"width": 1280, "height": 800})
    ends = """() => ["select[name=scenario]", "form [type=submit]", "#lab-live"].map(one => {
        const place = document.querySelector(one).getBoundingClientRect(); return [place.top, place.bottom]})"""

    def are_in_order() -> bool:
        places = locust.evaluate(ends)  # all at the same moment
        return all(above[1] <= below[0] for above, below in pairwise(places)) and places[-1][1] <= 800

    wait_for(are_in_order, within_s=10)


def about(stage: str, scenario: str, predicted: list[int], live: str = "gap") -> dict[str, Any]:
    words = {"stage": stage, "scenario": scenario, "title": "a title", "live": live, "store": "redis", "servers": 1}
    asked = {one: question.of_claim("exclusive", one) for one in Language}
    return words | {"question": asked, "requests": 600, "replicas": 3, "predicted": predicted}


def look(**figures: Any) -> dict[str, Any]:
    seen = {"at_s": 1.0, "acknowledged": 600, "failed": 0, "unknown": 0, "answered": 600, "counter": 154}
    return seen | {"kept_per_s": 1.0, "idle_s": 0.0, "faults": []} | figures


RESULT = {
    "acknowledged": 600,
    "failed": 0,
    "unknown": 0,
    "final": 153,
    "lost": 447,
    "duplicated": 0,
    "kept_per_s": 76,
    "requests": 600,
    "run": "r",
    "stage": "none",
    "scenario": "rush",
    "verdict": "KEPT",
    "why": "w",
    "headline": "KEPT, 447 lost otherwise",
    "lost_otherwise": 447,
    "answer": {"choice": 1, "number": "447", "words": "of 600 acknowledged increments lost", "tone": "bad"},
}


def test_verdict_replaces_the_figures_of_the_run(pages):
    """A running run has the figure of its claim, and its 0 is not green; afterwards the page shows the judge's figures."""
    state, opened = pages
    live = opened()
    state.news.publish(kind="begin", phase="running", about=about("setnx", "holder_crash", [0, 0], "failed"))
    state.news.publish(kind="look", look=look(acknowledged=5, counter=5, failed=32, idle_s=3.25))
    wait_for(lambda: live.locator("#gap").inner_text() == "32")
    assert "3.3 s" in live.locator("#gap-says").inner_text()
    state.news.publish(kind="begin", phase="running", about=about("none", "rush", [0, 0]))
    state.news.publish(kind="look", look=look(acknowledged=5, counter=5))
    wait_for(lambda: live.locator("#gap").inner_text() == "0")
    assert live.locator("#gap").get_attribute("class") == "big plain"
    state.news.publish(kind="look", look=look())
    wait_for(lambda: live.locator("#counter").inner_text() == "154")
    assert "is judging" in live.locator("#phase").inner_text()  # all requests are answered
    state.news.publish(kind="judged", phase="judged", result=RESULT, tally=state.predictions.tally())

    live.locator("#outcome").wait_for()
    drawing = [live.locator(one).inner_text() for one in ("#screen-on", "#pending")]  # a button and a note
    assert drawing == ["the pictures are being drawn …"] * 2
    assert [number(live, name) for name in ("acknowledged", "counter", "gap", "kept_per_s")] == [600, 153, 447, 76]
    assert live.locator("#outcome .verdict").get_attribute("class") == "verdict KEPT otherwise"
    live.get_by_role("button", name="中文").press("Enter")
    live.locator("html[lang=zh-CN]").wait_for()
    live.reload()
    live.locator("html[lang=zh-CN] main[data-state]").wait_for()  # the browser remembers the language


def test_phone_speaks_the_language_of_its_browser(pages):
    """Without a choice, a phone's page has the language of its browser, and the projector's page the language of the lab."""
    _, opened = pages
    for view, language in (("/vote", "zh-CN"), ("/projector", "en")):
        page = opened(view)
        page.add_init_script("Object.defineProperty(navigator, 'language', {get: () => 'zh-CN'})")
        page.reload()
        page.locator(f"html[lang={language}] main[data-state]").wait_for()


@pytest.mark.parametrize(
    ("view", "width", "height"), sampled([("/", 1024, 768), ("/projector", 1920, 1080), ("/vote", 390, 844)], ["/", "/vote"])
)
def test_each_state_fills_the_screen(browser, pages, view, width, height):
    """The question, the run and the verdict each fit on the screen without scrolling, in the lesson and outside of it."""
    state, opened = pages
    live = opened(view)
    live.set_viewport_size({"width": width, "height": height})
    predicted = about("none", "rush", [1, 2])
    news: dict[str, list[dict[str, Any]]] = {
        "rest": [{"kind": "asked", "phase": "waiting", "stage": "none", "scenario": "rush", "step": 0, "run": 0, "voted": 0}],
        "ask": [{"kind": "asked", "phase": "waiting", "stage": "none", "scenario": "rush", "step": 1, "run": 0, "voted": 20}],
        "starting": [{"kind": "starting", "phase": "starting", "about": predicted}],
        "run": [
            {"kind": "begin", "phase": "running", "about": predicted},
            *({"kind": "look", "look": look(at_s=at / 10, acknowledged=20 * at, counter=5 * at)} for at in range(1, 31)),
        ],
        "say": [{"kind": "judged", "phase": "judged", "result": RESULT, "tally": {"right": 2, "wrong": 1}}],
    }
    name = {"/": "whole", "/vote": "phone"}.get(view, "projector")
    shown = {"rest": "data-state=ask", "ask": "data-lesson=run", "starting": "data-state=run"}

    for phase, messages in news.items():
        for message in messages:
            state.news.publish(**message)
        live.locator(f"main[{shown.get(phase, f'data-state={phase}')}]").wait_for()
        if phase == "run":
            wait_for(lambda: live.locator("#gap").inner_text() == "450")
        tall, wide = live.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]")
        browser.look(live, f"state-{phase}-{name}", sizes=())
        assert (wide, tall <= height) == (width, True), f"{phase}: {tall} px of {height}"
        assert not [wrong for wrong in browser.wrongs if "favicon" not in wrong]


def test_a_phone_joins_by_hand(browser):
    """A phone joins by a word that is typed, or by a scan; its address keeps no key, it can vote, and it cannot stop a run."""
    state = LiveState()
    state.teach(1)
    with closing(LiveServer(state, "127.0.0.1", 0, 8089, "teacher")) as server:
        home = f"http://127.0.0.1:{server.port}"
        browser.excused = ["403"]
        phone = browser.open(f"{home}/vote?k=old", size="phone", touch=True)
        phone.get_by_role("alert").filter(has_text="This address belongs to an earlier class.").wait_for()
        browser.look(phone, "join", sizes=("phone",))
        phone.get_by_role("button", name="中文").tap()
        phone.get_by_role("heading", name="加入课堂").wait_for()
        phone.get_by_role("textbox", name="大屏幕上的暗号").fill("no word 1")
        phone.get_by_role("button", name="加入").tap()
        phone.get_by_role("alert").filter(has_text="暗号不对").wait_for()
        browser.look(phone, "join-zh", sizes=("phone",), is_contrast_known=True)
        phone.get_by_role("textbox").fill(server.keys.word)
        phone.get_by_role("textbox").press("Enter")
        phone.wait_for_url(f"{home}/vote")
        phone.locator("#choices button").nth(1).tap()
        phone.locator("#mine").filter(has_text="你的预测是").wait_for()

        scanned = browser.open(f"{home}/vote?k={server.keys.vote}", size="phone", touch=True)
        assert scanned.url == f"{home}/vote"
        scanned.locator("#choices button").first.tap()
        scanned.locator("#said").filter(has_text="2 predictions.").wait_for()
        refused = scanned.evaluate("fetch('/live/stop', { method: 'POST', body: '{}' }).then((answer) => answer.text())")
        assert "only the teacher's page can do this" in refused
        state.close()


def test_late_reader_sees_the_whole_run(browser, lab):
    """A live page that is opened during a run shows its figures so far, and follows it to the verdict.

    Locust's page refuses to change a run under way, with the reason, and the run goes on.
    """
    lab.press(stage="lua", work_ms="20", requests="9000", user_count="15", spawn_rate="15")
    wait_for(lambda: lab.recorded() > 100)

    live = browser.open(lab.live)

    live.locator("#phase").filter(has_text="running").wait_for()
    wait_for(lambda: 100 < number(live, "acknowledged") < 9000)
    assert live.evaluate("document.getElementById('envelope').width") > 0
    browser.look(live, "live-during", sizes=("projector",))
    refused_to_change(browser.open(lab.address))
    before = lab.recorded()
    wait_for(lambda: lab.recorded() > before)
    lab.stop()
    live.locator("#outcome").filter(has_text="VOID").wait_for(timeout=30_000)


def refused_to_change(locust) -> None:
    """Try to change a run under way on Locust's page, and wait until the page states that it cannot be changed."""
    locust.get_by_role("button", name="Edit").click()
    locust.wait_for_function("""() => document.querySelector("input[name=userCount]").value === "0" """)  # the form is filled
    locust.get_by_role("button", name="Update").click()
    locust.get_by_role("alert").filter(has_text="Not changed: a run is under way").wait_for()


def test_wrong_stage_is_shown_at_the_button(browser, resting):
    """Locust's page shows why a start was refused, and a change of the scenario resets a number that was typed."""
    locust = browser.open(resting.address)
    locust.locator("select[name=scenario]").wait_for()
    start_in_sight(locust)
    requests = locust.locator("input[name=requests]")
    requests.fill("200")
    locust.locator("select[name=scenario]").select_option(index=3)
    assert requests.input_value() == "0", "the number that was typed was for another scenario"
    locust.locator("select[name=stage]").evaluate("(one) => { one.options[0].value = 'lau'; one.value = 'lau'; }")

    locust.get_by_role("button", name="Start").click()

    locust.get_by_role("alert").filter(has_text="Not started: there is no stage 'lau'. Did you mean 'lua'?").wait_for()
    assert resting.at_rest()


@pytest.mark.parametrize("path", ["/swarm", "/stop", "/stats/reset"])
def test_other_site_cannot_control_runs(resting, path):
    """A page of another site can neither start nor stop a run."""
    request = urllib.request.Request(f"{resting.address}{path}", data=b"stage=none", headers={"Origin": "http://evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=10)
    with urllib.request.urlopen(resting.address, timeout=10) as answer:
        assert not [name for name in answer.headers if name.lower().startswith("access-control")]
        assert answer.headers["X-Frame-Options"] == "DENY"
    assert resting.at_rest()
    assert resting.verdicts() == []
