"""The lesson in real browsers: the teacher's page leads, the projector and phones follow."""

from __future__ import annotations

import io
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import zxingcpp
from PIL import Image

from app.locks import stages
from lab.judge.judgement import Judgement
from lab.paths import REFERENCE
from lab.scenario import reader as scenarios
from lab.ui.lesson import steps
from lab.ui.live_state import LiveState
from lab.ui.posted import RunRequest
from tests.chromium import unfit
from tests.command import wait_for
from tests.kept_runs import chapter, timelines
from tests.locust_page import Ui
from tests.sampled import sampled

WALLS = [(1024, 768), (1280, 800), (1920, 1080)]
# the cards of a step, and the boxes that they must not cover
CARDS = "#lesson, #situation, .predict, .phones"
# returns which boxes lie over each other, are cut off, or stick out of the window
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

# returns which texts of a step are too small to read from the last row, and whether the code is too small to scan from there
SMALL = """() => {
  const seen = [...document.querySelectorAll("#drawing text, #code, #asks, .choice, .address")]
    .filter((one) => one.checkVisibility());
  const px = (one) => parseFloat(getComputedStyle(one).fontSize) * (one.getScreenCTM?.().a ?? 1);
  const qr = document.querySelector(".qr").clientWidth;
  return [...seen.filter((one) => px(one) < 15.95).map((one) => `${one.textContent} has ${px(one).toFixed(1)} px`),
    ...(qr < 250 ? [`the code has ${qr} px`] : [])];
}"""


@pytest.fixture
def lesson(pages) -> tuple[LiveState, Callable[..., Any]]:
    """Return the state of a live page at step 1 of the lesson, and the function that opens one more view of it."""
    state, _ = pages
    state.teach(1)
    return pages


def test_all_pages_follow_the_step(lesson):
    """The projector and a phone follow the teacher's page, and each prediction is counted there; a phone has no Start button."""
    state, opened = lesson
    teacher, projector, phone = opened(), opened("/projector"), opened("/vote?lang=zh", size="phone")
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
    teacher.get_by_role("complementary", name="Notes for the teacher").wait_for()
    projector.keyboard.press("t")
    assert not projector.locator("#notes").is_visible()
    state.teach(0)
    projector.locator("#situation").wait_for(state="hidden")
    teacher.get_by_role("button", name="The lesson").click()
    phone.locator("#asks").filter(has_text="2000 个请求都返回了“成功”。").wait_for()


@pytest.mark.parametrize("language", sampled(["en", "zh"], ["zh"]))
def test_each_step_fits_its_screens(browser, lesson, language):
    """In a step no box of the projector or the teacher overlaps another, is cut off or sticks out; no phone scrolls sideways."""
    state, opened = lesson
    views = {path: opened(f"{path}lang={language}", size=size) for path, size in (("/projector?", "wide"), ("/?", "wide"))}
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
                found = page.evaluate(WRONG, CARDS) + (page.evaluate(SMALL) if "projector" in path else [])
                wrong += [f"{place.number} {path} {width}: {one}" for one in found]
                browser.picture(page, f"step-{place.number}-{'wall' if 'projector' in path else 'teacher'}-{width}-{language}")
        if phone.evaluate("document.documentElement.scrollWidth") > 390:
            wrong.append(f"{place.number}: the phone scrolls sideways")
    assert wrong == []
    for page in (*views.values(), phone):
        browser.look(page, f"step-last-{language}", sizes=())


RUN = "watchdog-frozen_holder"  # the run of step 7; the reference keeps one
SCREENS = "#lesson, #outcome, #loss > *, .chart-area, .gap, .seen > .legend, .next, .score"


@pytest.fixture
def judged(lesson, reports: Path, monkeypatch) -> tuple[LiveState, Callable[..., Any]]:
    """Return the lesson at step 7 after its run, with the verdict and the pictures of the kept run, and a curve made by hand."""
    state, opened = lesson
    folder, scenario = reports / "runs" / RUN, scenarios.load("frozen_holder")
    chapter(RUN, folder)
    for drawn in (REFERENCE / "chapters" / RUN).glob("*.svg"):
        shutil.copy(drawn, folder)
    state.teach(7)
    for number in range(12):
        state.predict(str(number), "watchdog", scenario, int(number > 2))
    state.starting(RunRequest(stages()["watchdog"], scenario, ""))
    run, record = SimpleNamespace(path=folder, name=RUN), SimpleNamespace(clocks=2, has_store=True)
    done: Any = SimpleNamespace(judgement=Judgement.load(folder), folder=run, record=record, findings=None, unwritten="")
    kept = SimpleNamespace(picture=timelines()[RUN])  # the reference keeps no journals
    monkeypatch.setattr("lab.ui.live_state.Reader", lambda *_: kept)
    state.judged(done)
    state.drawn(done)
    state._now |= {"points": [[step / 100, step, 0, step, 0] for step in range(101)]}
    return state, opened


# returns the errors in the drawing of a loss: too few texts, or a text that overlaps another, sticks out, or is too small to read
OF_THE_DRAWING = """() => {
  const figure = document.querySelector("#loss figure"), box = figure.getBoundingClientRect();
  const all = [...figure.querySelectorAll("svg text")].filter((one) => one.textContent.trim());
  const boxes = all.map((one) => one.getBoundingClientRect()), said = all.map((one) => one.textContent.trim());
  const shared = (one, other, begin, end) => Math.min(one[end], other[end]) - Math.max(one[begin], other[begin]);
  const line = (one, other) => 0.3 * Math.min(one.height, other.height); // a box has room above and below its letters
  const over = (one, other) => shared(one, other, "left", "right") > 1 && shared(one, other, "top", "bottom") > line(one, other);
  const within = (one, begin, end) => one[begin] > box[begin] - 1 && one[end] < box[end] + 1;
  const out = (one) => !within(one, "left", "right") || !within(one, "top", "bottom");
  return [
    ...(all.length > 9 ? [] : [`only ${all.length} texts are drawn`]),
    ...boxes.flatMap((one, place) => boxes.slice(place + 1).map((other, after) =>
      over(one, other) ? `${said[place]} over ${said[place + 1 + after]}` : "")),
    ...boxes.map((one, place) => out(one) ? `${said[place]} sticks out` : ""),
    ...boxes.map((one, place) => one.height < 10 ? `${said[place]} is ${one.height.toFixed(1)} px high` : ""),
  ].filter(Boolean);
}"""


@pytest.mark.parametrize("language", sampled(["en", "zh"], ["zh"]))
def test_the_verdict_is_three_screens(browser, judged, language):
    """Space leads all pages from the verdict through each step of the loss to the curve, and no box or text covers another."""
    state, opened = judged
    views = {"wall": opened(f"/projector?lang={language}"), "teacher": opened(f"/?lang={language}")}
    for page in views.values():
        page.locator("#loss figure svg").wait_for(state="attached")
    phone = opened(f"/vote?lang={language}", size="phone")
    losses = len(state.snapshot()["drawn"]["said"][language]["steps"]["said"])
    assert losses >= 4
    wrong = []
    for number, screen in enumerate(("#outcome", *losses * ["#loss"], "#envelope")):
        if number:
            views["wall"].keyboard.press("Space")
        for name, page in views.items():
            page.locator(screen).wait_for()
            if screen == "#loss":
                page.locator(f"#loss li:nth-child({number})[data-is=now]").wait_for()
            for width, height in WALLS:
                page.set_viewport_size({"width": width, "height": height})
                found = page.evaluate(WRONG, SCREENS) + (page.evaluate(OF_THE_DRAWING) if screen == "#loss" else [])
                wrong += [f"{number} {name} {width}: {one}" for one in found]
                browser.picture(page, f"screen-{number}-{name}-{width}-{language}")
            if number in (0, losses, losses + 1):  # each earlier step of the loss shows a part of the last one
                browser.look(page, f"screen-{number}-{name}-{language}", sizes=())
    assert wrong == []
    views["teacher"].keyboard.press("ArrowLeft")
    views["wall"].locator(f"#loss li:nth-child({losses})[data-is=now]").wait_for()
    assert phone.locator("#outcome").is_visible()
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert unfit(phone) == []


ELSEWHERE = "127.0.0.2"  # a loopback address at which the lab asks a browser for a key, as on a network


def scanned(page: Any) -> str:
    """Return the address in the code of a page, read from a picture of the page."""
    (code,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(page.screenshot())))
    return code.text


def joined(browser: Any, teacher: Any) -> tuple[Any, Any]:
    """Open the projector's page, which joins by the word, and a phone's page by a scan of the projector's code. Return both."""
    wall = browser.open(teacher.url + "projector", size="projector")
    wall.get_by_role("textbox", name="The word and the digit on the wall").fill(teacher.locator(".word").inner_text())
    wall.keyboard.press("Enter")
    wall.locator("#qr svg").wait_for()
    phone = browser.open(scanned(wall), size="phone", touch=True)
    phone.get_by_role("button", name="中文").tap()
    assert (wall.url, phone.url) == (f"{teacher.url}projector", f"{teacher.url}vote")
    return wall, phone


# one step of each kind (a losing run, pages, a holder that dies, pages and a command, a run that loses nothing); and all steps
HELD = [[1, 2, 4, 6, 8], [place.number for place in steps()]]
# by step: for each of its runs, whether the last choice comes true, as docs/class.md says
CAME_TRUE = {1: [True], 3: [False, True], 4: [True], 5: [True], 7: [True], 8: [False], 9: [False]}


@pytest.fixture
def lab(tmp_path) -> Iterator[Ui]:
    """Yield a running ``lab class``, which asks a browser for a key."""
    one = Ui(tmp_path, "--host", ELSEWHERE, command="class")
    yield one
    if one.process.poll() is None:
        one.end()


@pytest.mark.parametrize("numbers", sampled(HELD, HELD[:1]), ids=["each kind", "all"])
def test_a_class_is_held(browser, lab, numbers):
    """In a class with real runs, a projector without a key and a Chinese phone follow the teacher, and predictions are scored."""
    teacher = browser.open(lab.live)
    wall, phone = joined(browser, teacher)
    came_true = []
    for place in [steps()[number - 1] for number in numbers]:
        if place.number - 1 not in (0, *numbers):
            teacher.locator(f"#lesson button[value='{place.number}']").click()
        for run in place.step.runs:
            for page, question in ((teacher, run.ask.text), (wall, run.ask.text), (phone, run.ask.text_zh)):
                page.locator("#asks").filter(has_text=question.format(**run.values)).wait_for()
            phone.locator("#choices button").last.tap()
            wall.locator("#said").filter(has_text="1 prediction.").wait_for()
            for _ in range(3):  # on a busy machine a run may prove nothing: the predictions stand, and it is started again
                teacher.get_by_role("button", name="Start").click()
                wall.locator("#promise").filter(has_text=f"{run.stage} under {run.scenario.name}").wait_for(timeout=120_000)
                phone.locator("[data-state=say] #mine").filter(has_text=re.compile("预测[对错]了|下一次运行时算数")).wait_for()
                if "下一次" not in phone.locator("#mine").inner_text():
                    break
                same = {"step": place.number, "run": place.step.runs.index(run)}
                teacher.evaluate("same => fetch('/live/lesson', {method: 'POST', body: JSON.stringify(same)})", same)
            came_true.append(wall.locator("#outcome-title").inner_text().lower() == run.ask.choices[-1].lower())
            assert phone.locator("#mine").inner_text().endswith(f"目前 {len(came_true)} 猜 {sum(came_true)} 中。")
            for page in (teacher, wall):
                page.locator("#loss figure svg").first.wait_for(state="attached", timeout=120_000)
            assert {"verdict", "loss"} <= {screen for screen, _ in walk(teacher, wall)}
            teacher.locator("#next").click()
        if not place.step.runs:
            wall.locator("#step-title").filter(has_text=place.step.title).wait_for()
            phone.locator("#phase").filter(has_text="由你决定").wait_for()  # there is nothing to predict
            phone.locator("#pages a").first.wait_for()
            teacher.get_by_role("button", name="step ›").click()
        if place.number < len(steps()):
            wall.locator(f"#lesson li:nth-child({place.number + 1})[data-is=now]").wait_for()
    assert came_true == [one for number in numbers for one in CAME_TRUE.get(number, [])]
    assert lab.end()[0] == 0


# the place of a page: its screen, and the number of steps of the loss that it shows
PLACE = """() => [document.querySelector("main").dataset.screen,
  document.querySelectorAll("#loss li:is([data-is=past], [data-is=now])").length]"""


def walk(teacher: Any, wall: Any) -> list[tuple[str, int]]:
    """Go through the screens of a verdict by the teacher's keyboard, and return them.

    Fail if the projector does not follow to each screen, or if a key that is pressed there leads to another screen.
    """
    seen: list[tuple[str, int]] = []
    while not seen or seen[-1] != tuple(teacher.evaluate(PLACE)):
        seen.append(tuple(teacher.evaluate(PLACE)))
        wait_for(lambda: tuple(wall.evaluate(PLACE)) == seen[-1])
        wall.keyboard.press("Space")
        assert tuple(wall.evaluate(PLACE)) == seen[-1]
        teacher.keyboard.press("Space")
    return seen
