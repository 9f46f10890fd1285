"""The page on which the reader is the scheduler, played in a real browser."""

from __future__ import annotations

import json
import re

from lab.explore.search.event import EventKind, parse
from tests.browser.test_levels import made


def keys(event):
    """Return the keys of an event."""
    if event.kind is EventKind.CLOCK:
        return "t"
    letter = "ab"[event.client]
    return f"o{letter}" if event.thread else f"{event.kind.value}{letter}"


KEPT = "({ ...localStorage })"  # the entries that the browser keeps for this page's address
PRESS = """(keys) => keys.map((key) => {
  document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
  return [document.getElementById("step").textContent, !!document.querySelector("#result.won:not([hidden])")];
})"""


def test_every_shortest_schedule_is_played(browser, levels):
    """The keys of each shortest schedule break the claim with its last event, and undo leads back to the start."""
    page = browser.open(levels / "index.html")
    for level in made(levels):
        page.goto((levels / f"{level.name}.html").as_uri())
        start = page.locator(".board").inner_text()
        schedule = page.evaluate("JSON.parse(document.getElementById('data').textContent).shortest")
        events = parse(schedule)
        pressed = page.evaluate(PRESS, [key for event in events for key in keys(event)])
        steps = [pressed[sum(len(keys(one)) for one in events[: number + 1]) - 1] for number in range(len(events))]
        assert [int(step.split()[0]) for step, _ in steps] == [*range(1, len(events) + 1)], level.name
        assert [won for _, won in steps] == [False] * (len(events) - 1) + [True] * bool(events)
        assert page.url.endswith(f"#{schedule}") or not events
        page.evaluate(PRESS, ["z"] * len(events))
        assert page.locator(".board").inner_text() == start


def test_a_solved_level_is_marked(browser, levels):
    """A reader who presses each highlighted button solves level 1. The browser keeps that, and the index shows it.

    The test carries the entry to the index: on a busy machine Chromium may not report to a page what another page has kept.
    """
    page = browser.open(levels / "none.html")
    page.evaluate(PRESS, ["a", "a", "b", "b"])
    assert page.locator("#said .guide").inner_text().startswith("Both increments are there.")
    page.evaluate(PRESS, ["s"])
    for _ in range(4):
        page.locator(".client button.hinted").click()
    kept = page.evaluate(KEPT)
    assert json.loads(kept["lab.play.none"])["events"] == 4

    index = browser.open(levels / "index.html")
    marks = index.locator("#levels .done", has_text="done in 4")
    assert marks.count() == 0
    index.evaluate("(kept) => Object.assign(localStorage, kept)", kept)
    index.evaluate("dispatchEvent(new StorageEvent('storage'))")
    assert marks.count() == 1
    index.context.add_init_script(f"Object.assign(localStorage, {json.dumps(kept)})")
    index.reload()
    assert marks.count() == 1
    assert index.locator("#solved").inner_text().startswith("You have done 1 of ")


def test_level_is_accessible(browser, levels):
    """A level is accessible and can be played by keyboard; solved, it links to the next level and to the same moves on lua."""
    page = browser.open(f"{(levels / 'uuid-pause.html').as_uri()}#A4BpAt3000BrA")
    page.get_by_role("button", name="Send A’s next command").focus()
    page.keyboard.press("Enter")

    assert page.locator("#result").inner_text().startswith("You broke it in 10 events. There is no shorter way.")
    assert page.evaluate("document.activeElement.textContent").startswith("Send A’s next command")
    assert page.locator("#happened").get_by_role("link", name="Next level").is_visible()
    browser.look(page, "play")
    page.get_by_role("link", name="The same moves on lua").click()
    page.wait_for_url(re.compile(r"/lua-same-pause\.html"))
    assert page.locator(".chip.to-come").count() == 10
    for language in ("en", "zh"):
        index = browser.open(f"{(levels / 'index.html').as_uri()}?lang={language}")
        browser.look(index, f"play-index-{language}", sizes=("phone",))


def test_the_code_is_folded_at_first(browser, levels):
    """The first page shows the lines that matter; the button shows all, and the line of the next command stays in sight."""
    page = browser.open(levels / "none.html", size="phone")
    code = page.get_by_role("region", name="The code of client A")
    folded, shown = code.locator("li.rest"), code.locator("li.matters")
    assert (folded.filter(visible=True).count(), shown.filter(visible=True).count()) == (0, shown.count())

    page.get_by_role("button", name="All of the code").click()

    assert folded.filter(visible=True).count() == folded.count() > 0
    assert page.get_by_role("button", name="All of the code").get_attribute("aria-pressed") == "true"
    inside = "(one) => one.offsetTop - one.closest('.code').offsetTop - one.closest('.code').scrollTop"
    assert 0 <= code.locator(".lit").evaluate(inside) < code.bounding_box()["height"]


def test_language_of_the_pages(browser, levels):
    """The switch leads to the level in Chinese with its moves; the next levels are Chinese until the switch is used again."""
    page = browser.open(f"{(levels / 'none.html').as_uri()}#ABAB")
    page.get_by_role("link", name="中文").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/none\.zh\.html\?lang=zh#ABAB$"))
    result = page.locator("#result")
    assert result.inner_text().startswith("你用 4 个事件破坏了它。没有更短的走法。丢失一次 +1：B 没有加锁就执行了业务。")
    browser.look(page, "play-chinese", sizes=("phone",), is_contrast_known=True)

    result.get_by_role("link", name="下一关").click()
    page.wait_for_url(re.compile(r"/incr\.zh\.html\?lang=zh$"))
    assert page.locator("html").get_attribute("lang") == "zh-CN"
    assert page.get_by_role("heading", level=1).inner_text() == "一条命令同时读和写，+1 还会消失吗？"
    page.get_by_role("button", name="发送 A 的下一条命令").click()
    assert page.locator("#said").inner_text() == "1. A 发送 INCRBY n 1。Redis 返回 1。A 写入 1。A 完成了。"
    page.get_by_role("link", name="English").click()
    page.wait_for_url(re.compile(r"/incr\.html\?lang=en#A$"))
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.locator("#said").inner_text() == "1. A sends INCRBY n 1. Redis answers 1. A writes 1. A is done."
