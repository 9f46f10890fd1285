"""The lab's own page and Locust's in a real browser: asked, predicted, started, watched, and looked at."""

from __future__ import annotations

import http.client
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

import pytest

from app.locks import stages
from lab.scenario import reader as scenarios
from lab.ui.live_server import LiveServer
from lab.ui.live_state import LiveState
from lab.ui.run_form import RunRequest
from tests.chromium import unfit
from tests.command import wait_for
from tests.locust_page import Ui
from tests.sampled import sampled

# how many columns of the strip are not empty
STRIP = """() => { const { width, height } = document.getElementById("strip");
  const pixels = document.getElementById("strip").getContext("2d").getImageData(0, 0, width, height).data;
  const green = (x, y) => pixels[4 * (y * width + x) + 1] > 120 && pixels[4 * (y * width + x)] < 60;
  const columns = Array.from({ length: width - 100 }, (_, x) => x + 100), rows = Array.from({ length: height }, (_, y) => y);
  return columns.filter((x) => rows.some((y) => green(x, y))).length;
}"""


class Lab(Ui):
    """A ``lab ui``, and where its live page is."""

    def asked(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, str]:
        """Status and text of what the live page's server answers to a tool that says what it likes."""
        where = urlsplit(self.live)
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=10)
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, {name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text


@pytest.fixture
def lab(tmp_path) -> Iterator[Lab]:
    one = Lab(tmp_path, "--names")
    yield one
    if one.process.poll() is None:
        one.end()


@pytest.fixture(scope="module")
def resting(tmp_path_factory) -> Iterator[Lab]:
    """A ``lab ui`` for the tests that start no run."""
    one = Lab(tmp_path_factory.mktemp("resting"))
    yield one
    one.end()


def start(page, stage: str) -> None:
    """Fill in Locust's form and press Start, as a reader does."""
    page.get_by_label("Number of users").fill("20")
    page.get_by_label("Ramp up").fill("20")
    page.locator("select[name=stage]").wait_for()  # nobody has to open what it is in
    choice = page.locator("select[name=stage] option").filter(has_text=f"{stage}:").first.get_attribute("value")
    page.locator("select[name=stage]").select_option(choice)
    page.locator("input[name=requests]").fill("300")
    page.get_by_role("button", name="Start").click()


def choose(page, stage: str, scenario: str = "rush") -> None:
    """Choose what the class is asked, and wait until the page asks it."""
    for field, name in (("stage", stage), ("scenario", scenario)):
        page.locator(f"input[name={field}][value={name}]").check()
    page.locator(".subject").filter(has_text=f"{stage} under {scenario}").wait_for()


def predict(page, choice: str) -> None:
    page.get_by_role("button", name=choice, exact=True).click()
    page.locator("#mine").filter(has_text=f"You said: {choice}. It counts for the next run.").wait_for()


def outcome(page, stage: str):
    """What the live page says of a run of this stage, when its page is there as well."""
    page.locator("#phase").filter(has_text=f"{stage} under rush: ended.").wait_for(timeout=60_000)
    page.locator("#loss figure svg").first.wait_for(state="attached")
    return page.locator("#outcome")


def number(page, name: str) -> int:
    return int(page.locator(f"#{name}").inner_text().replace("\u2009", ""))


def test_two_runs_on_both_pages(browser, lab):
    """Stage none loses and lua does not, in Locust's tab and on the lab's own page; predictions are kept."""
    locust, live = browser.open(lab.address), browser.open(lab.live)
    badge = live.locator(".badge[data-stage=none]")
    badge.filter(has_text="?").wait_for()
    live.get_by_label("your name").fill("<b>Ann</b>")
    predict(live, "it loses some")
    badge.filter(has_text="lost").wait_for()
    assert live.locator(".badge[data-stage=local]").inner_text() == "?"

    start(locust, "none")

    live.locator("#starts li").first.wait_for(timeout=30_000)
    said = outcome(live, "none").inner_text()
    assert "It loses some" in said
    assert "none under rush: never promised ADMITTED" in said
    assert "1 of 1 predictions right" in said
    live.locator("#mine").filter(has_text="You said: it loses some. You were right.").wait_for()
    assert (number(live, "gap"), number(live, "acknowledged")) == (300 - number(live, "counter"), 300)
    assert number(live, "gap") > 0
    assert "bad" in live.locator("#gap").get_attribute("class")
    assert live.locator(".twice").inner_text() == f"Locust: 0% failures\nThe counter: {number(live, 'gap')} missing"
    assert live.locator("#names").inner_text().endswith("<b>Ann</b>: 1 of 1")
    browser.look(live, "live-after-none")

    compare_pages(browser, locust, live)
    live.get_by_role("button", name="Next: local").click()
    live.locator(".subject").filter(has_text="local under rush").wait_for()
    choose(live, "lua")
    predict(live, "it loses some")
    locust.get_by_role("button", name="New").click()
    wait_for(lambda: locust.get_by_label("Number of users").input_value() == "0")  # not those of the run before
    locust.get_by_text("0: as many users as the scenario has").wait_for()
    assert locust.locator("select[name=stage]").input_value().startswith("none:")  # as in the last run
    start_in_sight(locust)
    start(locust, "lua")
    locust.locator("#lab-verdict").filter(has_text="rush").wait_for(state="hidden")

    said = " ".join(outcome(live, "lua").inner_text().split())
    assert "0 of 300 acknowledged increments lost" in said
    assert "lua under rush: promised, and kept KEPT" in said
    assert "0 of 1 predictions right" in said
    live.locator("#mine").filter(has_text="You were wrong. Yours so far: 1 of 2 right.").wait_for()
    assert number(live, "gap") == 0
    assert "good" in live.locator("#gap").get_attribute("class")
    assert "1 of 2 predictions right" in live.locator("#tally").inner_text()
    locust.locator("td", has_text="KEPT").wait_for()  # without a reload
    assert locust.locator("tbody tr", has_text="KEPT").locator("td").nth(4).inner_text() == "0"


def compare_pages(browser, locust, live) -> None:
    """Find in Locust's tab, in its bar and on the run's page what the lab's own page says."""
    locust.get_by_role("tab", name="Lost increments").click()
    row = locust.locator("td", has_text="ADMITTED").locator("..")
    row.wait_for()
    wait_for(lambda: locust.locator("#lab-lost").evaluate("(one) => one.checkVisibility() && one.naturalWidth > 0"))
    cells = row.locator("td").all_inner_texts()
    assert cells[:5] == ["none", "rush", "300", live.locator("#counter").inner_text(), str(number(live, "gap"))]
    assert str(number(live, "kept_per_s")) == cells[8]
    bar = locust.locator("#lab-verdict")
    assert bar.inner_text() == f"none under rush: {cells[4]} of 300 acknowledged increments lost, never promised · report"
    assert bar.locator("a").get_attribute("href") == row.locator("a").get_attribute("href")
    report = browser.open(row.locator("a").get_attribute("href"))
    assert report.title().startswith("none: ")


def start_in_sight(locust) -> None:
    """Find Start below the lists of stages and scenarios, and all three in sight, on a small screen, once the form has opened."""
    locust.set_viewport_size({"width": 1280, "height": 800})
    ends = """() => ["select[name=scenario]", "form [type=submit]", "#lab-live"].map(one => {
        const place = document.querySelector(one).getBoundingClientRect(); return [place.top, place.bottom]})"""

    def are_in_order() -> bool:
        places = locust.evaluate(ends)  # all at the same moment
        return all(above[1] <= below[0] for above, below in pairwise(places)) and places[-1][1] <= 800

    wait_for(are_in_order, within_s=10)


def test_a_class_on_one_page(browser, lab):
    """Start on the page starts Locust; a phone that predicted gets its answer; a refusal is shown at the button."""
    teacher, phone = browser.open(lab.live), browser.open(f"{lab.live}vote", size="phone", touch=True)
    choose(teacher, "lua", "nested")
    choose(teacher, "none", "nested")
    browser.excused = ["400"]
    teacher.get_by_role("button", name="Start").click()
    teacher.get_by_role("alert").filter(has_text="the stage none does not have it").wait_for()
    assert lab.at_rest()
    choose(teacher, "lua", "nested")
    phone.locator(".subject").filter(has_text="lua under nested").wait_for()
    assert not phone.get_by_role("button", name="Start").is_visible()  # only the class's own page starts runs
    phone.get_by_role("button", name="it waits for itself").tap()
    teacher.locator("#said").filter(has_text="1 prediction.").wait_for()

    teacher.get_by_role("button", name="Start").click()

    for page in (teacher, phone):
        page.locator("#promise").filter(has_text="lua under nested: never promised").wait_for(timeout=60_000)
    phone.locator("#mine").filter(has_text="You were right.").wait_for()
    (facts,) = wait_for(lab.verdicts)
    assert (facts["stage"], facts["scenario"], facts["verdict"]) == ("lua", "nested", "ADMITTED")
    teacher.get_by_role("button", name="Choose another").click()
    phone.locator(".choice").first.wait_for()


def about(stage: str, scenario: str, predicted: list[int], live: str = "gap") -> dict[str, Any]:
    words = {"stage": stage, "scenario": scenario, "title": "a title", "live": live, "store": "redis", "servers": 1}
    return words | {"requests": 600, "replicas": 3, "predicted": predicted}


def look(**figures: Any) -> dict[str, Any]:
    seen = {"at_s": 1.0, "acknowledged": 600, "failed": 0, "unknown": 0, "answered": 600, "counter": 154}
    return seen | {"kept_per_s": 1.0, "idle_s": 0.0, "bins": None, "faults": []} | figures


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
    "next": "local",
    "headline": "KEPT, 447 lost otherwise",
    "lost_otherwise": 447,
    "answer": {"choice": 1, "number": "447", "words": "of 600 acknowledged increments lost", "tone": "bad"},
}


def test_live_page_ends_with_the_verdict(pages):
    """Of two writes at the same moment, their stamps do not say which was the last; the speed at the end is the judge's."""
    state, opened = pages
    live = opened()
    state.news.publish(kind="begin", phase="running", about=about("none", "rush", [0, 0]))
    state.news.publish(kind="look", **look())
    wait_for(lambda: live.locator("#counter").inner_text() == "154")
    state.news.publish(kind="judged", phase="judged", result=RESULT, tally=state.predictions.tally())

    live.locator("#outcome").wait_for()
    assert [number(live, name) for name in ("acknowledged", "counter", "gap")] == [600, 153, 447]
    assert live.locator("#kept_per_s").inner_text() == "76"
    assert live.locator("#outcome .verdict").get_attribute("class") == "verdict KEPT otherwise"
    assert live.locator("#promise").inner_text() == "none under rush: promised, and kept KEPT, 447 lost otherwise"


def test_nothing_is_green_before_the_verdict(pages):
    """While a run goes on, its figure is that of its claim, and no 0 is green."""
    state, opened = pages
    live = opened()
    state.news.publish(kind="begin", phase="running", about=about("setnx", "holder_crash", [0, 0, 0], "failed"))
    state.news.publish(kind="look", **look(acknowledged=5, counter=5, failed=32, idle_s=3.25))

    live.locator("#gap-says").filter(has_text="of 600 requests refused so far; no request has been inside for 3.").wait_for()
    assert (live.locator("#gap").inner_text(), live.locator("#gap").get_attribute("class")) == ("32", "big plain")
    state.news.publish(kind="begin", phase="running", about=about("lua", "rush", [0, 0]))
    state.news.publish(kind="look", **look(acknowledged=5, counter=5))
    live.locator("#gap-says").filter(has_text="acknowledged, but not in the counter").wait_for()
    assert (live.locator("#gap").inner_text(), live.locator("#gap").get_attribute("class")) == ("0", "big plain")
    for locked, legend in ((False, "#without-lock"), (True, "#with-lock")):
        lanes = {layer: {"replica-1": "9"} for layer in ("held", "pale", "crowded")}
        state.news.publish(kind="look", **look(bins={"first": 0, "locked": locked, **lanes}))
        live.locator(legend).wait_for()


def test_all_pages_are_asked_the_same(pages):
    """What is chosen on one page, all pages ask. What a phone predicts, no page shows before the run starts; then all do."""
    state, opened = pages
    teacher, projector, phone = opened(), opened("/projector"), opened("/vote", size="phone")
    choose(teacher, "setnx", "holder_crash")
    for page in (projector, phone):
        page.locator("#asks").filter(has_text="Who gets in after the holder has died?").wait_for()

    predict(phone, "nobody any more")

    for page in (teacher, projector):
        page.locator("#said").filter(has_text="1 prediction. What it says is shown at Start.").wait_for()
    late = opened()
    late.locator("#said").filter(has_text="1 prediction.").wait_for()
    assert late.locator("input[name=stage]:checked").get_attribute("value") == "setnx"
    assert [page.locator("#choices .count").all_inner_texts() for page in (teacher, late)] == [["", "", ""]] * 2
    state.starting(RunRequest(stages()["setnx"], scenarios.load("holder_crash"), ""))
    for page in (teacher, projector, phone, late):
        page.locator("#predicted .count").filter(has_text="1").wait_for()
        assert page.locator("#predicted .count").all_inner_texts() == ["", "", "1"]


@pytest.mark.parametrize(
    ("view", "width", "height"), sampled([("/", 1024, 768), ("/projector", 1920, 1080), ("/vote", 390, 844)], ["/", "/vote"])
)
def test_each_state_fills_the_screen(browser, pages, view, width, height):
    """Ask, run and verdict are each seen whole, without scrolling."""
    state, opened = pages
    live = opened(view)
    live.set_viewport_size({"width": width, "height": height})
    predicted = about("none", "rush", [1, 2])
    news: dict[str, list[dict[str, Any]]] = {
        "ask": [{"kind": "asked", "phase": "waiting", "stage": "none", "scenario": "rush", "voted": 20}],
        "starting": [{"kind": "starting", "phase": "starting", "about": predicted}],
        "run": [
            {"kind": "begin", "phase": "running", "about": predicted},
            *({"kind": "look", **look(at_s=at / 10, acknowledged=20 * at, counter=5 * at)} for at in range(1, 31)),
        ],
        "say": [{"kind": "judged", "phase": "judged", "result": RESULT, "tally": {"right": 2, "wrong": 1, "names": []}}],
    }
    name = {"/": "whole", "/vote": "phone"}.get(view, "projector")

    for phase, messages in news.items():
        for message in messages:
            state.news.publish(**message)
        live.locator(f"main[data-state={phase if phase != 'starting' else 'run'}]").wait_for()
        if phase == "run":
            wait_for(lambda: live.locator("#gap").inner_text() == "450")
        tall, wide = live.evaluate("[document.documentElement.scrollHeight, document.documentElement.scrollWidth]")
        browser.look(live, f"state-{phase}-{name}", sizes=())
        assert (wide, tall <= height) == (width, True), f"{phase}: {tall} px of {height}"
        assert not [wrong for wrong in browser.wrongs if "favicon" not in wrong]


def test_a_short_run_is_replayed(browser, pages):
    """The moment of a short run is chosen with the arrow keys: figures, chart and stays are those of that moment.

    Two at once are orange, and the time around the loss is stretched.
    """
    state, opened = pages
    live = opened()
    points = [[step / 100, 3 * step, 0, step, 0] for step in range(101)]
    stays = [["replica-1", 0.1, 0.2, 1], ["replica-1", 0.2, 0.4, 3], ["replica-2", 0.2, 0.4, 3], ["replica-2", 0.4, 0.9, 2]]
    pace = [[0, 0], [0.4, 0.25], [0.6, 0.75], [1, 1]]
    state.frames = {"until_s": 1.0, "replicas": ["replica-1", "replica-2"], "points": points, "stays": stays}
    state.frames |= {"faults": [], "pace": pace}
    state.news.publish(kind="begin", phase="running", about=about("none", "rush", [0, 0]))
    state.news.publish(kind="judged", phase="judged", result=RESULT, tally=state.predictions.tally())
    state.news.publish(kind="replay")
    live.locator("#replay:not([hidden])").wait_for(state="attached")
    live.keyboard.press("Space")
    live.locator("#replay").wait_for()
    assert live.locator("#of-stays li").filter(visible=True).all_inner_texts() == [
        "a holder",
        "inside, and its lease is over",
        "several inside at once",
        "between the dashed lines the time is stretched",
    ]

    live.locator("#scrub").focus()
    for _ in range(5):  # a tenth of the run each
        live.keyboard.press("PageDown")

    live.locator("#moment").filter(has_text="0.50 s of 1.00 s").wait_for()
    assert (number(live, "acknowledged"), number(live, "counter"), number(live, "gap")) == (150, 50, 100)
    browser.look(live, "state-replay", sizes=())
    seen = {(0.2, 0): "#d55e00", (0.2, 1): "#d55e00", (0.45, 1): "#e69f00"}
    wait_for(lambda: all(colour(live, *place) == expected for place, expected in seen.items()))
    live.keyboard.press("End")
    assert (number(live, "acknowledged"), number(live, "gap")) == (600, 447)  # the verdict's
    assert live.evaluate(FRAMES) == 0
    live.locator("#play").click()
    live.locator("#moment").filter(has_text=re.compile(r"^0\.\d\d s of 1\.00 s")).wait_for()
    assert live.evaluate(FRAMES) > 0


# how many frames the page asks for while ten pass: where nothing moves, it takes no processor time from a run
FRAMES = """async () => {
  const ask = window.requestAnimationFrame.bind(window);
  let asked = 0;
  window.requestAnimationFrame = (then) => { asked += 1; return ask(then); };
  for (let frame = 0; frame < 10; frame++) await new Promise(ask);
  window.requestAnimationFrame = ask;
  return asked;
}"""


def colour(page, share: float, row: int) -> str:
    """Return the colour of a lane of two, at a share of the replay."""
    return page.evaluate(
        """([share, row]) => { const one = document.getElementById("strip"), sharp = devicePixelRatio;
          const letters = parseFloat(getComputedStyle(document.documentElement).fontSize), left = 4.5 * letters;
          const x = left + (one.clientWidth - 12 - left) * share, y = one.clientHeight * (row + 0.5) / 2;
          const [red, green, blue] = one.getContext("2d").getImageData(x * sharp, y * sharp, 1, 1).data;
          return `#${[red, green, blue].map((each) => each.toString(16).padStart(2, "0")).join("")}`; }""",
        [share, row],
    )


def test_phones_find_the_page(browser, pages):
    """The page has the address for phones as a QR code, which is dark on light in the dark as well."""
    _, opened = pages
    live = opened("/projector", size="projector", dark=True)

    code = live.get_by_role("img", name="QR code of the address 192.0.2.7:8090", exact=True).locator("svg")
    assert code.bounding_box()["width"] > 200
    assert "<path" in code.inner_html()
    said = live.locator(".address").inner_text().splitlines()
    assert said == ["or by hand: this address, then the word", "192.0.2.7:8090", "otter 4"]  # nothing is broken over two lines
    assert "s3cretkey123" not in live.locator("body").inner_text()


def test_a_phone_joins_by_hand(browser):
    """One field, in both languages; the word leads to the votes, and the address keeps no key. A scan does the same."""
    state = LiveState()
    with closing(LiveServer(state, "127.0.0.1", 0, 8089, "teacher")) as server:
        home = f"http://127.0.0.1:{server.server_port}"
        browser.excused = ["403"]
        phone = browser.open(f"{home}/vote?k=old", size="phone", touch=True)
        phone.get_by_role("alert").filter(has_text="This address is of an earlier class.").wait_for()
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
        scanned.get_by_role("button", name="it loses none").tap()
        scanned.locator("#said").filter(has_text="2 predictions.").wait_for()
        refused = scanned.evaluate("fetch('/live/stop', { method: 'POST', body: '{}' }).then((answer) => answer.text())")
        assert "only the teacher's page can do this" in refused
        state.close()


def test_late_reader_sees_the_whole_run(browser, lab):
    """A reader who opens the live page during a run sees what has happened and what happens next.

    Locust's page cannot change the run: it says so, and the run goes on.
    """
    lab.press(stage="lua", work_ms="20", requests="9000", user_count="15", spawn_rate="15")
    wait_for(lambda: lab.recorded() > 100)

    live = browser.open(lab.live)

    live.locator("#phase").filter(has_text="running").wait_for()
    live.wait_for_timeout(300)  # two looks
    assert 100 < number(live, "acknowledged") < 9000
    assert live.evaluate("document.getElementById('envelope').width") > 0
    assert live.evaluate(STRIP) > 20  # also the bins of the time before this page was opened
    browser.look(live, "live-during", sizes=("projector",))
    refused_to_change(browser.open(lab.address))
    before = lab.recorded()
    wait_for(lambda: lab.recorded() > before)
    lab.stop()
    live.locator("#outcome").filter(has_text="VOID").wait_for(timeout=30_000)
    assert "no prediction counts" in live.locator("#outcome-title").inner_text()


def refused_to_change(locust) -> None:
    """Try to change a run under way on Locust's page, and wait until the page states that it cannot be changed."""
    locust.get_by_role("button", name="Edit").click()
    locust.get_by_role("button", name="Update").click()
    locust.get_by_role("alert").filter(has_text="Not changed: a run is under way").wait_for()


def test_wrong_stage_is_shown_at_the_button(browser, resting):
    """A wrong stage is refused, and the reason is in sight."""
    locust = browser.open(resting.address)
    locust.locator("select[name=scenario]").wait_for()
    start_in_sight(locust)
    locust.locator("select[name=stage]").evaluate("(one) => { one.options[0].value = 'lau'; one.value = 'lau'; }")

    locust.get_by_role("button", name="Start").click()

    locust.get_by_role("alert").filter(has_text="Not started: there is no stage 'lau'. Did you mean 'lua'?").wait_for()
    assert resting.at_rest()


def test_live_page_by_keyboard(pages):
    """Everything on the page can be done with the keyboard."""
    _, opened = pages
    live = opened()
    live.locator("input[name=stage]:checked").focus()
    live.keyboard.press("ArrowDown")
    live.locator(".subject").filter(has_text="local under rush").wait_for()
    for _ in range(5):  # scenario, Start, all results, the lesson, it loses none
        live.keyboard.press("Tab")

    live.keyboard.press("Enter")

    live.locator("button[data-choice='0'][aria-pressed=true]").wait_for()


def test_page_in_chinese(pages, monkeypatch):
    """The switch makes the page Chinese, and the browser remembers it. Without a choice the page follows the environment."""
    state, opened = pages
    live = opened()
    live.get_by_role("button", name="中文").press("Enter")
    live.locator("#asks").filter(has_text="会不会丢 +1？").wait_for()
    live.reload()
    live.locator("#asks").filter(has_text="会不会丢 +1？").wait_for()

    state.news.publish(kind="begin", phase="running", about=about("none", "rush", [0, 0]))
    result = RESULT | {"chinese": {"w": "没有锁"}}
    state.news.publish(kind="judged", phase="judged", result=result, tally=state.predictions.tally())

    live.locator("#why").filter(has_text="没有锁").wait_for()
    assert live.locator("html").get_attribute("lang") == "zh-CN"
    assert unfit(live) == []
    live.get_by_role("button", name="English").click()
    live.locator("#asks").filter(has_text="Will it lose increments?").wait_for()
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    for path, text in (("/vote", "会不会丢 +1？"), ("/vote?lang=en", "Will it lose increments?")):
        opened(path, size="phone").locator("#asks").filter(has_text=text).wait_for()


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


def test_bad_prediction_is_refused(resting):
    """A prediction that makes no sense is refused, and the answer lists what is allowed."""
    said = {"stage": "lua", "scenario": "rush", "choice": 1}
    with urllib.request.urlopen(resting.live, timeout=10) as page:
        device = page.headers["Set-Cookie"].partition(";")[0]
    wrong = {
        "Did you mean 'lua'": said | {"stage": "lau"},
        "no choice 2 for rush; its choices are 0: it loses none, 1: it loses some": said | {"choice": 2},
        "there is no choice -1": said | {"choice": -1},
        "Expected `int`, got `bool`": said | {"choice": True},
        "missing required field `stage`": {"choice": 1},
    }

    for words, posted in wrong.items():
        status, text = resting.asked("POST", "/live/prediction", posted, Cookie=device)
        assert (status, words in text) == (400, True), text
    assert '"voted":0' in resting.asked("GET", "/live/ladder?stage=lua&scenario=rush")[1]
    assert resting.asked("POST", "/live/prediction", said | {"name": "x" * 5000})[0] == 413
    assert resting.asked("POST", "/live", said)[0] == 404
