"""The lesson in real browsers: the teacher's page leads, the projector and phones follow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from lab.paths import HOME
from lab.ui.joining import Invitation
from lab.ui.lesson import steps
from lab.ui.live_server import LiveServer
from lab.ui.live_state import FIRST_SCREEN, LiveState
from tests.chromium import unfit
from tests.command import wait_for
from tests.locust_page import Ui

WALLS = [(1024, 768), (1280, 800), (1920, 1080)]
# the cards of a step, and what they must not cover
CARDS = "#lesson, #situation, .predict, .phones"
# pairs of boxes that lie over each other, and boxes whose content is cut off
WRONG = """(selector) => {
  const seen = [...document.querySelectorAll(selector)].filter((one) => one.checkVisibility());
  const box = (one) => one.getBoundingClientRect(), name = (one) => one.id || one.className;
  const shared = (one, other, begin, end) => Math.min(one[end], other[end]) - Math.max(one[begin], other[begin]) > 1;
  const over = (one, other) => shared(one, other, "left", "right") && shared(one, other, "top", "bottom");
  const apart = (one, other) => one.contains(other) || other.contains(one) || !over(box(one), box(other));
  const cut = (one) => one.scrollHeight > one.clientHeight + 1 || one.scrollWidth > one.clientWidth + 1;
  const out = (one) => box(one).right > innerWidth + 1 || box(one).bottom > innerHeight + 1;
  return [
    ...seen.flatMap((one, place) => seen.slice(place + 1).filter((other) => !apart(one, other))
      .map((other) => `${name(one)} over ${name(other)}`)),
    ...seen.filter(cut).map((one) => `${name(one)} is cut`),
    ...seen.filter(out).map((one) => `${name(one)} sticks out`),
  ];
}"""


@pytest.fixture
def lesson(browser) -> Iterator[tuple[LiveState, Callable[..., Any]]]:
    """The lab's own page in its lesson, without a lab behind it: its state, and how to open one more page."""
    state = LiveState()
    state.teach(1)
    with closing(LiveServer(state, "127.0.0.1", 0, 8089, "", HOME / "reports")) as server:
        server.invitation = Invitation("192.0.2.7:8090", "http://192.0.2.7:8090/vote?k=s3cretkey123", "otter 4")

        def opened(path: str = "/", **how: Any) -> Any:
            page = browser.open(f"http://127.0.0.1:{server.server_port}{path}", **how)
            page.locator("#lesson li").first.wait_for()
            return page

        yield state, opened
        state.close()


def test_all_pages_follow_the_step(lesson):
    """The teacher goes on with a button; the projector and a phone in Chinese show the step, and its question."""
    _, opened = lesson
    teacher, projector, phone = opened(), opened("/?view=projector"), opened("/vote?lang=zh", size="phone")
    for number, words in ((2, "Be the scheduler"), (3, "A mutex in the process"), (3, "There is only one server.")):
        if f"{number}" not in teacher.locator("#lesson [aria-current]").inner_text():
            teacher.get_by_role("button", name="step ›").click()
        for page in (teacher, projector):
            page.locator("#ask").filter(has_text=words).wait_for()
    phone.locator("#asks").filter(has_text="只有一台服务器。").wait_for()
    teacher.get_by_role("button", name="step ›").click()  # the second run of the same step
    phone.locator("#asks").filter(has_text="现在有 3 台服务器。").wait_for()
    assert phone.locator("#step-of").inner_text() == "第 3 步（共 9 步）"
    assert not phone.get_by_role("button", name="开始").is_visible()

    phone.get_by_role("button", name="会丢一些").click()
    for page in (teacher, projector):
        page.locator("#said").filter(has_text="1 prediction.").wait_for()

    teacher.keyboard.press("t")
    assert "1815 of 5000" in teacher.get_by_role("complementary", name="Notes for the teacher").inner_text()
    projector.keyboard.press("t")
    assert not projector.locator("#notes").is_visible()
    teacher.get_by_role("button", name="Free choice").click()
    projector.locator("#situation").wait_for(state="hidden")
    teacher.get_by_role("button", name="The lesson").click()
    phone.locator("#asks").filter(has_text="2000 个回答都是“成功”。").wait_for()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_each_step_fits_its_screens(browser, lesson, language):
    """On the wall and at the teacher's, nothing of a step overlaps, is cut, or sticks out; on a phone nothing is too wide."""
    state, opened = lesson
    views = {path: opened(f"{path}lang={language}", size=size) for path, size in (("/?view=projector&", "wide"), ("/?", "wide"))}
    phone = opened(f"/vote?lang={language}", size="phone", dark=True)
    wrong = []
    for place in steps():
        state.teach(place.number)
        for page in (*views.values(), phone):
            page.locator(f"#lesson li:nth-child({place.number})[data-is=now]").wait_for()
        for path, page in views.items():
            for width, height in WALLS:
                page.set_viewport_size({"width": width, "height": height})
                page.evaluate("document.fonts.ready")
                wrong += [f"{place.number} {path} {width}: {one}" for one in page.evaluate(WRONG, CARDS)]
                if browser.pictures is not None:
                    browser.pictures.mkdir(parents=True, exist_ok=True)
                    page.screenshot(
                        path=browser.pictures
                        / f"step-{place.number}-{'wall' if 'view' in path else 'teacher'}-{width}-{language}.png"
                    )
        if phone.evaluate("document.documentElement.scrollWidth") > 390:
            wrong.append(f"{place.number}: the phone scrolls sideways")
    assert wrong == []
    for page in (*views.values(), phone):
        for colours in ("light", "dark"):
            page.emulate_media(color_scheme=colours)
            assert unfit(page) == []


STEPS = {
    "heading": "This loss in two steps",
    "a": "r1 at replica-1",
    "b": "r2 at replica-2",
    "cause": "the TTL ran out in the work",
}
SAID = {
    "caption": "c",
    "steps": STEPS | {"said": [{"clock": "0.1 s", "sentence": f"Step {number}. " + 9 * "Words. "} for number in (1, 2)]},
}
SCREENS = "#lesson, #outcome, #loss > *, .chart-area, .gap, .seen > .legend, .inside, .replay, .next, .score"


@pytest.fixture
def judged(lesson) -> tuple[LiveState, Callable[..., Any]]:
    """A run of step 7 of the lesson with its verdict, its pictures and its replay, as the server publishes them."""
    state, opened = lesson
    state.teach(7)
    about = {"stage": "watchdog", "scenario": "frozen_holder", "idea": "", "title": "A title", "live": "gap", "store": "redis"}
    about |= {"servers": 1, "requests": 60, "replicas": 3, "predicted": [3, 9]}
    result = {
        "stage": "watchdog",
        "scenario": "frozen_holder",
        "verdict": "ADMITTED",
        "why": "a reason of some ten words",
        "next": "",
    }
    result |= {"acknowledged": 60, "failed": 0, "unknown": 0, "final": 36, "lost": 24, "duplicated": 0, "kept_per_s": 30}
    result |= {"requests": 60, "run": "r", "headline": "ADMITTED", "lost_otherwise": 0}
    result["answer"] = {"choice": 1, "number": "24", "words": "of 60 acknowledged increments lost", "tone": "bad"}
    drawn = {"run": "../reference/chapters/watchdog-frozen_holder", "said": {"en": SAID, "zh": SAID}}
    state.frames = {"until_s": 1.0, "replicas": ["replica-1", "replica-2", "replica-3"], "stays": [["replica-1", 0.1, 0.9, 1]]}
    state.frames |= {"points": [[step / 100, step, 0, step, 0] for step in range(101)], "pace": [[0, 0], [1, 1]]}
    state.frames |= {"faults": [{"kind": "freeze", "replica": "replica-1", "from_s": 0.1, "until_s": 0.8}]}
    tally = {"right": 9, "wrong": 3, "names": []}
    state._now = {"phase": "drawn", "about": about, "result": result, "drawn": drawn, "replay": True, "screen": FIRST_SCREEN}
    state._now |= {"tally": tally, "points": [[0, 0, 0, 0, 0], [1, 60, 0, 36, 0]]}
    return state, opened


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_verdict_is_three_screens(browser, judged, language):
    """Space goes from the verdict through the steps of the loss to the replay, on all pages; nothing overlaps on any wall."""
    _, opened = judged
    browser.excused = ["404"]  # the picture of a run that was never made
    views = {"wall": opened(f"/?view=projector&lang={language}"), "teacher": opened(f"/?lang={language}")}
    for page in views.values():
        page.locator("#loss .said li").first.wait_for(state="attached")
    phone = opened(f"/vote?lang={language}", size="phone")
    wrong = []
    for number, screen in enumerate(("#outcome", "#loss", "#loss", "#replay")):
        if number:
            views["wall"].keyboard.press("Space")
        for name, page in views.items():
            page.locator(screen).wait_for()
            if screen == "#loss":
                page.locator(f"#loss li:nth-child({number})[data-is=now]").wait_for()
            for width, height in WALLS:
                page.set_viewport_size({"width": width, "height": height})
                wrong += [f"{number} {name} {width}: {one}" for one in page.evaluate(WRONG, SCREENS)]
                if browser.pictures is not None:
                    browser.pictures.mkdir(parents=True, exist_ok=True)
                    page.screenshot(path=browser.pictures / f"screen-{number}-{name}-{width}-{language}.png")
            for colours in ("light", "dark"):
                page.emulate_media(color_scheme=colours)
                assert unfit(page) == []
    assert wrong == []
    views["teacher"].keyboard.press("ArrowLeft")
    views["wall"].locator("#loss li:nth-child(2)[data-is=now]").wait_for()
    assert phone.locator("#outcome").is_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert unfit(phone) == []


def test_a_class_is_held(browser, tmp_path):
    """A lesson from the first page to the last answer, with real runs: teacher, projector, and a phone in Chinese."""
    lab = Ui(tmp_path, command="class")
    teacher, wall = browser.open(lab.live), browser.open(f"{lab.live}?view=projector", size="projector")
    phone = browser.open(f"{lab.live}vote?lang=zh", size="phone", touch=True)
    answers = []
    for place in steps():
        for run in place.step.runs:
            for page, question in ((teacher, run.ask.text), (wall, run.ask.text), (phone, run.ask.text_zh)):
                page.locator("#asks").filter(has_text=question.format(**run.values)).wait_for()
            phone.locator("#choices button").last.tap()
            phone.locator("#choices [aria-pressed=true]").wait_for()
            teacher.get_by_role("button", name="Start").click()
            wall.locator("#promise").filter(has_text=f"{run.stage} under {run.scenario.name}").wait_for(timeout=120_000)
            phone.locator("#mine").filter(has_text="猜").wait_for()
            answers.append(wall.locator("#outcome-title").inner_text())
            wall.locator("#loss figure svg").first.wait_for(state="attached", timeout=120_000)
            assert {"verdict", "loss"} <= walk(wall, teacher)
            teacher.locator("#next").click()
        if not place.step.runs:
            wall.locator("#step-title").filter(has_text=place.step.title).wait_for()
            phone.locator("#pages a").first.wait_for()
            teacher.get_by_role("button", name="step ›").click()
    promised = [run.ask.choices[0] for place in steps() for run in place.step.runs]
    kept = [answer.lower() == choice.lower() for answer, choice in zip(answers, promised, strict=True)]
    assert kept == [False, True, False, False, False, False, True, True]  # none, local twice, setnx, ttl, watchdog, fencing, incr
    assert lab.end()[0] == 0


def walk(wall: Any, teacher: Any) -> set[str]:
    """Go through the screens of a verdict by the projector's keyboard, and return them: the teacher's page follows."""
    here = "() => document.querySelector('main').dataset.screen"
    seen = set()
    for _ in range(9):  # more than there are
        seen.add(wall.evaluate(here))
        wall.keyboard.press("Space")
    wait_for(lambda: teacher.evaluate(here) == wall.evaluate(here))
    return seen
