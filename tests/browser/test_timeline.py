"""The timeline in a real browser: where it opens, and that it can be moved by mouse, by keyboard and by finger."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from lab.report.lanes.rows import LEFT, RIGHT
from lab.report.run_page import report_run
from tests.builders import Made, outlived, picture_of

SOUND = 100  # increments after the loss, one each 20 ms


@pytest.fixture(scope="module")
def lost(tmp_path_factory) -> Path:
    """The page of a run made by hand, in whose middle r1 writes over what r0 had written, at 770 ms and 460 ms."""
    made = Made(tmp_path_factory.mktemp("run") / "made")
    outlived(made)
    for number in range(SOUND):
        at = 1000 + 20 * number
        made.increment(f"s{number}", 1 + number, 1 + number, at=(at, at + 1, at + 5, at + 9), replica="replica-3")
    picture_of(made, final=1 + SOUND, ttl_ms=300)
    return report_run(made.folder)[0]


BOXES = "(all) => all.map((one) => one.getBoundingClientRect().toJSON())"


class Seen:
    """The timeline of an open page. view: from when to when it shows, in seconds."""

    def __init__(self, page: Any) -> None:
        self.page, self.lanes = page, page.locator("#timeline .lanes")
        self.lanes.scroll_into_view_if_needed()

    @property
    def view(self) -> tuple[float, float]:
        self.page.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
        )  # it is drawn by then
        since, until = re.findall(r"([\d.]+) s", self.page.locator("#timeline .seen").inner_text())[:2]
        return float(since), float(until)

    @property
    def span(self) -> float:
        return self.view[1] - self.view[0]

    @property
    def tip(self) -> str:
        """What the picture says of the thing that was pointed at; empty if nothing."""
        tip = self.page.locator("#timeline .tip")
        return tip.inner_text() if tip.is_visible() else ""

    def point(self, part: float) -> tuple[float, float]:
        """On the page, where such a part of the shown time is, on a lane that is empty there."""
        box = self.lanes.bounding_box()
        return box["x"] + LEFT + part * (box["width"] - LEFT - RIGHT), box["y"] + box["height"] - 8


@pytest.fixture(params=["wide", "phone"])
def seen(browser, lost, request) -> Seen:
    return Seen(browser.open(lost, size=request.param, touch=request.param == "phone"))


def test_it_opens_at_the_violation(seen):
    since, until = seen.view

    assert since <= 0.45  # both writes, and not the whole run
    assert 0.76 <= until < 1.5
    assert seen.page.locator("#timeline .lanes .arc").count() == 1
    box, arc = (seen.page.locator(f"#timeline {what}").bounding_box() for what in (".lanes", ".lanes .arc"))
    assert box["x"] <= arc["x"]
    assert arc["x"] + arc["width"] <= box["x"] + box["width"]


def test_its_buttons_move_it(seen):
    opened = seen.view
    seen.page.get_by_role("button", name="The whole run").click()
    assert seen.view[0] == 0
    assert seen.span > 2.9

    seen.page.get_by_role("button", name="Zoom in").click()
    assert 1.4 < seen.span < 1.6

    seen.page.get_by_role("button", name="The first loss").click()
    assert seen.view == opened


def test_still_without_a_script(browser, lost, tmp_path):
    """Where no script runs, the page shows the opening view as it is drawn, without buttons."""
    bare = tmp_path / "report.html"
    bare.write_text(re.sub(r"<script.*?</script>", "", lost.read_text(encoding="utf-8"), flags=re.DOTALL), encoding="utf-8")
    page = browser.open(bare)

    assert page.get_by_role("toolbar", name="What the timeline shows", include_hidden=True).is_hidden()
    assert page.locator("#timeline .lanes .arc.shown").is_visible()
    assert "r1" in page.locator("#timeline .words text:visible").all_text_contents()


def test_texts_never_overlap(browser, lost):
    """Whatever the view is, no text covers another, and none is cut off."""
    seen = Seen(browser.open(lost))
    for name in ("Zoom out", "Zoom out", "Earlier", "Zoom in", "Zoom in", "Zoom in", "Later"):
        seen.page.get_by_role("button", name=name).click()
        assert seen.view
        boxes = seen.page.locator("#timeline .words text:visible").evaluate_all(BOXES)
        covers = [
            (a, b)
            for number, a in enumerate(boxes)
            for b in boxes[:number]
            if a["x"] < b["x"] + b["width"] - 1 and b["x"] < a["x"] + a["width"] - 1 and abs(a["y"] - b["y"]) < 8
        ]
        assert covers == []
    assert boxes


def test_it_works_with_the_keyboard_alone(browser, lost):
    seen = Seen(browser.open(lost))
    opened, press = seen.view, seen.page.keyboard.press
    seen.lanes.focus()
    press("ArrowRight")
    assert seen.view[0] > opened[0]

    press("Home")
    press("+")
    assert seen.span < opened[1] - opened[0]

    press("0")
    assert seen.view[0] == 0
    press("Home")
    assert seen.view == opened

    press("ArrowDown")
    assert "at replica-" in seen.tip
    press("n")
    assert "r1 at replica-2" in seen.tip
    assert "1 increment overwritten" in seen.tip
    press("Escape")
    assert seen.tip == ""


class Fingers:
    """One or two, on the page's screen."""

    def __init__(self, page: Any) -> None:
        self.session = page.context.new_cdp_session(page)

    def move(self, *ways: tuple[tuple[float, float], tuple[float, float]], steps: int = 5) -> None:
        """Each from where to where, all at once."""
        for step in range(steps + 1):
            part = step / steps
            points = [
                {"x": a[0] + part * (b[0] - a[0]), "y": a[1] + part * (b[1] - a[1]), "id": n} for n, (a, b) in enumerate(ways)
            ]
            self._send("touchMove" if step else "touchStart", points)
        self._send("touchEnd", [])

    def _send(self, kind: str, points: list[dict[str, float]]) -> None:
        self.session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


@pytest.fixture
def touched(browser, lost) -> tuple[Seen, Fingers]:
    page = browser.open(lost, size="phone", touch=True)
    return Seen(page), Fingers(page)


def test_a_finger_drags_it(touched):
    seen, fingers = touched
    since, until = seen.view
    fingers.move((seen.point(0.8), seen.point(0.2)))

    assert seen.view[0] > since + 0.4 * (until - since)
    assert seen.span == pytest.approx(until - since, abs=0.01)


def test_steps_of_the_loss_one_by_one(browser, lost):
    """The loss is shown whole; the buttons and the keys show it step by step, and the sentence of the step is announced."""
    page = browser.open(lost)
    steps = page.locator("#five-steps")
    later = steps.locator(".drawn [data-is=later]")
    assert steps.locator("h2").inner_text() == "This loss in five steps"
    assert later.count() == 0

    steps.get_by_role("button", name="Next step").click()
    assert steps.locator("output").inner_text() == "Step 1 of 5: A gets the lock and reads 0."
    assert later.count() > 0
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    assert steps.locator("output").inner_text() == "Step 5 of 5: B writes 1 over 1: the counter does not grow."
    assert later.count() == 0
    page.keyboard.press("ArrowLeft")
    assert steps.locator("[aria-current=step]").inner_text().endswith("A writes 1.")
    steps.get_by_role("button", name="All steps").click()
    assert steps.locator("[aria-current=step]").count() == 0
