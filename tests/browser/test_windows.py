"""The pictures of a run in a real browser: which one the page opens with, and how a reader goes to the next one."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest

from lab.language import Language
from lab.report.run_page import report_run
from tests.builders import Made, outlived, picture_of

SOUND = 100  # increments after the loss, one each 20 ms
WAITED_MS = 700


@pytest.fixture(scope="module")
def lost(tmp_path_factory) -> Path:
    """Return the page of a handmade run: r0 writes at 460 ms, r1 writes over it at 770 ms; much later s99 waits for the lock."""
    made = Made(tmp_path_factory.mktemp("run") / "made")
    outlived(made)
    for number in range(SOUND):
        at = 1000 + 20 * number
        asked = at - WAITED_MS if number == SOUND - 1 else None
        made.increment(f"s{number}", 1 + number, 1 + number, (at, at + 1, at + 5, at + 9), "replica-3", asked=asked)
    picture_of(made, final=1 + SOUND, ttl_ms=300)
    return report_run(made.folder, languages=[Language.ENGLISH])[0]


def shown(page) -> str:
    """Return the sentence of the only picture that is shown."""
    (one,) = page.locator("#windows .window:visible").all()
    return one.locator("h2").inner_text()


@pytest.mark.parametrize("size", ["wide", "phone"])
def test_it_opens_at_the_loss(browser, lost, size):
    """The page opens with the picture of the loss, and the lost write is in sight, also on a screen narrower than the picture."""
    page = browser.open(lost, size=size, touch=size == "phone")

    assert "r1 writes 1 over 1" in shown(page)
    page.locator("#windows .drawn:visible").scroll_into_view_if_needed()
    frame, arc = (page.locator(f"#windows .window:visible {what}").bounding_box() for what in (".drawn", ".plot .loss.line"))
    assert frame["x"] <= arc["x"]
    assert arc["x"] + arc["width"] <= frame["x"] + frame["width"]
    browser.look(page, "windows", sizes=("wide", "phone") if size == "wide" else (), within="#windows")


def test_from_one_picture_to_the_next(browser, lost):
    """Buttons, keys and a click on the strip of the whole run lead from one picture to another."""
    page = browser.open(lost)
    first, wait = "r1 writes 1 over 1", f"s{SOUND - 1} waited {WAITED_MS} ms for the lock, longer than any other request"
    page.get_by_role("button", name="Next picture").click()
    assert wait in shown(page)
    page.get_by_role("button", name="Next picture").click()
    assert first in shown(page)

    page.get_by_role("button", name="The longest wait").focus()
    page.keyboard.press("ArrowLeft")
    assert wait in shown(page)
    assert page.get_by_role("button", name="The longest wait").get_attribute("aria-pressed") == "true"

    strip = page.locator("#windows .overview")
    strip.click(position={"x": 5, "y": 10})
    assert first in shown(page)
    strip.click(position={"x": strip.bounding_box()["width"] - 5, "y": 10})
    assert wait in shown(page)


def test_all_pictures_without_a_script(browser, lost, tmp_path):
    """If no script runs, the page shows all pictures, without buttons."""
    bare = tmp_path / "report.html"
    bare.write_text(re.sub(r"<script.*?</script>", "", lost.read_text(encoding="utf-8"), flags=re.DOTALL), encoding="utf-8")
    page = browser.open(bare)

    assert page.locator("#windows .window:visible").count() == 2
    assert page.get_by_role("toolbar", name="Pictures of the run", include_hidden=True).is_hidden()


def test_trace_has_all_requests(lost):
    """The trace has each request in a row of its replica, in which no two overlap, and the loss as an arrow."""
    events = json.loads((lost.parent / "trace.json").read_text(encoding="utf-8"))["traceEvents"]
    names = {event["pid"]: event["args"]["name"] for event in events if event["ph"] == "M"}
    requests = [
        event for event in events if event["ph"] == "X" and re.fullmatch(r"[rs]\d+", event["name"]) and "release" in event["args"]
    ]

    assert len(requests) == SOUND + 2
    rows: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for one in requests:
        rows.setdefault((one["pid"], one["tid"]), []).append((one["ts"], one["ts"] + one["dur"]))
    assert {names[pid] for pid, _ in rows} == {"replica-1", "replica-2", "replica-3"}
    assert all(a[1] <= b[0] for row in map(sorted, rows.values()) for a, b in pairwise(row))
    assert [event["ph"] for event in events if event["name"] == "destroys"] == ["s", "f"]


def test_steps_of_the_loss_one_by_one(browser, lost):
    """The loss is shown whole; buttons and keys show it step by step, and the sentence of each step is announced."""
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


def test_saved_picture_names_its_run(browser, lost):
    """A picture that is saved has the title and the name of its run below it, as SVG and as PNG."""
    page = browser.open(lost)
    for place in (page.locator("#five-steps"), page.locator("#windows .window:visible")):
        with page.expect_download() as saved:
            place.get_by_role("link", name="SVG").click()
        drawn = saved.value.path().read_text(encoding="utf-8")
        assert drawn.startswith("<svg ")
        assert re.findall(r">([^<]+)</text></svg>$", drawn)[0].startswith(f"{lost.parent.name} · ")
        assert f">{page.title()} · " in drawn
        with page.expect_download() as saved:
            place.get_by_role("button", name="PNG").click()
        assert saved.value.path().read_bytes().startswith(b"\x89PNG")
