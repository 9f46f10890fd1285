"""Locust's page and the live page in a real browser: predicted, started, watched, and looked at."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any
from urllib.parse import urlsplit

import pytest

from lab.ui.live_server import LiveServer
from lab.ui.live_state import LiveState
from tests.command import wait_for
from tests.locust_page import Ui

# how many columns of the strip are not empty
STRIP = """() => { const { width, height } = document.getElementById("strip");
  const pixels = document.getElementById("strip").getContext("2d").getImageData(0, 0, width, height).data;
  const green = (x, y) => pixels[4 * (y * width + x) + 1] > 120 && pixels[4 * (y * width + x)] < 60;
  const columns = Array.from({ length: width - 100 }, (_, x) => x + 100), rows = Array.from({ length: height }, (_, y) => y);
  return columns.filter((x) => rows.some((y) => green(x, y))).length;
}"""


class Lab(Ui):
    """A ``lab ui``, and where its live page is."""

    @property
    def live(self) -> str:
        return self.welcome.rpartition(" ")[2].strip()

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
    one = Lab(tmp_path)
    yield one
    if one.process.poll() is None:
        one.end()


@pytest.fixture(scope="module")
def resting(tmp_path_factory) -> Iterator[Lab]:
    """A ``lab ui`` for the tests that start no run."""
    one = Lab(tmp_path_factory.mktemp("resting"))
    yield one
    one.end()


def start(page, stage: str, requests: str = "600") -> None:
    """Fill in Locust's form and press Start, as a reader does."""
    page.get_by_label("Number of users").fill("50")
    page.get_by_label("Ramp up").fill("50")
    page.locator("select[name=stage]").wait_for()  # nobody has to open what it is in
    choice = page.locator("select[name=stage] option").filter(has_text=f"{stage}:").first.get_attribute("value")
    page.locator("select[name=stage]").select_option(choice)
    page.locator("input[name=requests]").fill(requests)
    page.get_by_role("button", name="Start").click()


def predict(page, stage: str, choice: str, name: str = "Ann", scenario: str = "rush") -> None:
    page.get_by_label("stage").select_option(stage)
    page.get_by_label("scenario").select_option(scenario)
    page.get_by_label("your name").fill(name)
    page.get_by_role("button", name=choice, exact=True).click()
    page.locator("#mine").filter(has_text=f"You said: {choice}. It counts for the next run.").wait_for()


def outcome(page, stage: str):
    """What the live page says of a run of this stage, when its page is there as well."""
    page.locator("#phase").filter(has_text=f"{stage} under rush: ended.").wait_for(timeout=60_000)
    page.locator("#timeline svg").wait_for()
    return page.locator("#outcome")


def number(page, name: str) -> int:
    return int(page.locator(f"#{name}").inner_text().replace("\u2009", ""))


def test_two_runs_on_both_pages(browser, lab):
    """Stage none loses and lua does not, in Locust's tab and on the live page; predictions are kept."""
    locust, live = browser.open(lab.address), browser.open(lab.live)
    browser.look(live, "live-before")
    assert live.locator("#rungs tr").first.inner_text().endswith("? predict it first")
    predict(live, "none", "it loses some", name="<b>Ann</b>")
    live.locator("#rungs tr").first.filter(has_text="lost").wait_for()
    assert live.locator("#rungs tr").nth(1).inner_text().endswith("? predict it first")

    start(locust, "none")

    live.locator("#phase").filter(has_text="running").wait_for(timeout=30_000)
    live.locator("#mine").filter(has_text="You said: it loses some. The run is under way.").wait_for()
    said = outcome(live, "none").inner_text()
    assert "ADMITTED none under rush" in said
    assert "1 × “it loses some”" in said
    assert "1 of 1 right" in said
    live.locator("#mine").filter(has_text="You said: it loses some. You were right.").wait_for()
    assert live.locator("#without-lock").is_visible()
    assert live.locator("#with-lock").is_hidden()
    assert (number(live, "gap"), number(live, "acknowledged")) == (600 - number(live, "counter"), 600)
    assert number(live, "gap") > 0
    assert "bad" in live.locator("#gap").get_attribute("class")
    assert live.locator("#names").inner_text().endswith("<b>Ann</b>: 1 of 1")
    browser.look(live, "live-after-none")

    locust.get_by_role("tab", name="Lost increments").click()
    row = locust.locator("td", has_text="ADMITTED").locator("..")
    row.wait_for()
    cells = row.locator("td").all_inner_texts()
    assert cells[:5] == ["none", "rush", "600", live.locator("#counter").inner_text(), str(number(live, "gap"))]
    assert str(number(live, "kept_per_s")) == cells[8]
    report = browser.open(row.locator("a").get_attribute("href"))
    assert "none under rush" in report.title()

    predict(live, "lua", "it loses some")
    locust.get_by_role("button", name="New").click()
    wait_for(lambda: locust.get_by_label("Number of users").input_value() == "0")  # not those of the run before
    locust.get_by_text("0: as many users as the scenario has").wait_for()
    start(locust, "lua")

    said = outcome(live, "lua").inner_text()
    assert "KEPT lua under rush: 0 of 600 acknowledged increments lost" in said
    assert "0 of 1 right" in said
    live.locator("#mine").filter(has_text="You were wrong. Yours so far: 1 of 2 right.").wait_for()
    assert number(live, "gap") == 0
    assert "good" in live.locator("#gap").get_attribute("class")
    assert live.locator("#with-lock").is_visible()
    assert "1 of 2 predictions right" in live.locator("#tally").inner_text()
    locust.locator("td", has_text="KEPT").wait_for()  # without a reload
    assert locust.locator("tbody tr", has_text="KEPT").locator("td").nth(4).inner_text() == "0"
    browser.look(live, "live-after-lua")


@pytest.fixture
def pages(browser) -> Iterator[tuple[LiveState, Callable[[], Any]]]:
    """The live page without a lab behind it: its state, and how to open one more page."""
    state = LiveState()
    with closing(LiveServer(state, "127.0.0.1", 0, 8089, "")) as server:

        def opened() -> Any:
            page = browser.open(f"http://127.0.0.1:{server.server_port}/live")
            page.locator("#choices button").first.wait_for()
            return page

        yield state, opened
        state.close()


def about(stage: str, scenario: str, predicted: list[int], live: str = "gap") -> dict[str, Any]:
    words = {"stage": stage, "scenario": scenario, "idea": "", "title": "", "live": live}
    return words | {"requests": 600, "replicas": 3, "predicted": predicted}


def look(**figures: Any) -> dict[str, Any]:
    seen = {"at_s": 1.0, "acknowledged": 600, "failed": 0, "unknown": 0, "counter": 154, "kept_per_s": 1.0, "idle_s": 0.0}
    return seen | {"bins": None, "faults": []} | figures


def test_live_page_ends_with_the_verdict(pages):
    """Of two writes at the same moment, their stamps do not say which was the last; the speed at the end is the judge's."""
    state, opened = pages
    live = opened()
    state.news.publish(kind="begin", phase="running", about=about("none", "rush", [0, 0]))
    state.news.publish(kind="look", **look())
    wait_for(lambda: live.locator("#counter").inner_text() == "154")
    figures = {"acknowledged": 600, "failed": 0, "unknown": 0, "final": 153, "lost": 447, "duplicated": 0, "kept_per_s": 76}
    answer = {"choice": 1, "number": "447", "words": "of 600 acknowledged increments lost", "tone": "bad"}

    result = figures | {"run": "r", "stage": "none", "scenario": "rush", "verdict": "KEPT", "why": "w", "answer": answer}
    result |= {"headline": "KEPT, 447 lost otherwise", "lost_otherwise": 447}
    state.news.publish(kind="judged", phase="judged", result=result, tally=state.predictions.tally())

    live.locator("#outcome").wait_for()
    assert [number(live, name) for name in ("acknowledged", "counter", "gap")] == [600, 153, 447]
    assert live.locator("#kept_per_s").inner_text() == "76"
    assert live.locator("#outcome .verdict").get_attribute("class") == "verdict KEPT otherwise"
    assert live.locator("#outcome-title").inner_text().startswith("KEPT, 447 lost otherwise")


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


def test_votes_reach_every_page(pages):
    """A prediction on one page is counted on all: a page on which nothing was chosen goes with it, another offers to go there."""
    _, opened = pages
    projector, phone, other = opened(), opened(), opened()
    other.get_by_label("scenario").select_option("nested")
    predict(phone, "setnx", "nobody any more", scenario="holder_crash")

    projector.locator("#said").filter(has_text="Predictions for the next run: 1 × “nobody any more”.").wait_for()
    assert projector.locator("#asks").inner_text() == "Who gets in after the holder has died?"
    assert projector.get_by_label("stage").input_value() == "setnx"
    assert other.get_by_label("scenario").input_value() == "nested"
    other.get_by_role("button", name="1 prediction for setnx under holder_crash: go there").click()
    other.locator("#said").filter(has_text="1 × “nobody any more”").wait_for()

    predict(other, "lua", "it gets the lock", scenario="nested")
    projector.locator("#asks").filter(has_text="asks for its own lock again").wait_for()
    phone.get_by_role("button", name="1 prediction for lua under nested: go there").wait_for()
    assert phone.locator("#mine").inner_text() == "You said: nobody any more. It counts for the next run."

    late = opened()
    late.locator("#said").filter(has_text="1 × “it gets the lock”").wait_for()


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
    browser.look(live, "live-during", sizes=("wide", "phone", "projector"))
    refused_to_change(browser.open(lab.address))
    before = lab.recorded()
    wait_for(lambda: lab.recorded() > before)
    lab.stop()
    live.locator("#outcome").filter(has_text="VOID").wait_for(timeout=30_000)
    assert "no prediction counts" in live.locator("#against").inner_text()


def refused_to_change(locust) -> None:
    """Try to change a run under way on Locust's page, and wait until the page states that it cannot be changed."""
    locust.get_by_role("button", name="Edit").click()
    locust.get_by_role("button", name="Update").click()
    locust.get_by_role("alert").filter(has_text="Not changed: a run is under way").wait_for()


def test_wrong_stage_is_shown_at_the_button(browser, resting):
    """A wrong stage is refused, and the page shows the reason above the button."""
    locust = browser.open(resting.address)
    locust.locator("select[name=stage]").evaluate("(one) => { one.options[0].value = 'lau'; one.value = 'lau'; }")

    locust.get_by_role("button", name="Start").click()

    locust.get_by_text("there is no stage 'lau'. Did you mean 'lua'?").wait_for()
    assert resting.at_rest()


def test_live_page_by_keyboard(pages):
    """Everything on the live page can be done with the keyboard."""
    _, opened = pages
    live = opened()
    live.locator("select[name=stage]").focus()
    live.keyboard.type("lua")
    for _ in range(3):  # scenario, name, it loses none
        live.keyboard.press("Tab")

    live.keyboard.press("Enter")

    live.locator("button[data-choice='0'][aria-pressed=true]").wait_for()
    assert live.locator("#rungs tr[aria-current=true]").inner_text().startswith("lua")


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


def test_other_origin_in_a_browser(browser, resting, tmp_path):
    """A page of another origin cannot start a run from a real browser."""
    browser.excused = ["CORS policy", "Failed to load resource"]
    stranger = tmp_path / "stranger.html"
    stranger.write_text("<!doctype html><title>another site</title>", encoding="utf-8")

    answer = browser.open(stranger).evaluate(
        """(address) => fetch(address, { method: "POST", body: new URLSearchParams({ stage: "none", user_count: 1 }) })
        .then((answer) => answer.status, () => "not answered")""",
        f"{resting.address}/swarm",
    )

    assert answer == "not answered"
    assert resting.at_rest()
    assert not (resting.cwd / "reports").exists()
    assert resting.asked("POST", "/live/prediction", {}, origin="http://evil.example")[0] == 403  # a name in whatever case
    assert resting.asked("GET", "/live", Host="evil.example")[0] == 403


def test_bad_prediction_is_refused(resting):
    """A prediction that makes no sense is refused, and the answer lists what is allowed."""
    said = {"reader": "1", "stage": "lua", "scenario": "rush", "choice": 1}
    wrong = {
        "Did you mean 'lua'": said | {"stage": "lau"},
        "no choice 2 for rush; its choices are 0: it loses none, 1: it loses some": said | {"choice": 2},
        "there is no choice -1": said | {"choice": -1},
        "Expected `int`, got `bool`": said | {"choice": True},
        "1 to 64 characters": said | {"reader": ""},
        "missing required field `stage`": {"reader": "1"},
    }

    for words, posted in wrong.items():
        status, text = resting.asked("POST", "/live/prediction", posted)
        assert (status, words in text) == (400, True), text
    assert "[0,0]" in resting.asked("GET", "/live/ladder?stage=lua&scenario=rush")[1]
    assert resting.asked("POST", "/live/prediction", said | {"name": "x" * 5000})[0] == 413
    assert resting.asked("POST", "/live", said)[0] == 404


@pytest.mark.parametrize(
    "path", ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/runs/..%2f..%2f..%2fetc/passwd", "/runs/.hidden"]
)
def test_no_path_leads_out_of_the_runs(resting, path):
    assert resting.asked("GET", path)[0] == 404
