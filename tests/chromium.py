"""Pages in a real browser: the system's Chromium, driven by Playwright. A missing Chromium fails the tests; nothing is skipped.

Whatever a page does wrong fails the test that has it open: an error on the console, an error nobody caught, a request that
would leave the machine (none gets out: no name but this machine's is resolved). ``pytest --screenshots FOLDER`` keeps pictures.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from lab.prerequisites import program

SIZES = {"wide": (1280, 900), "phone": (390, 844), "projector": (1920, 1080)}
AT_HOME = ("127.0.0.1", "127.0.0.2", "localhost", "[::1]")
QUIET = [  # a browser that talks to nobody of its own accord
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--no-first-run",
    "--no-default-browser-check",
]
BY_COLOUR = ("color-contrast", "link-in-text-block")  # axe's rules whose outcome the colour scheme can change
OFF_BY_DEFAULT = {"label-content-name-mismatch": {"enabled": True}}  # of WCAG 2.1 A, and axe runs it only if it is asked to
SHAPE = {"resultTypes": ["violations"], "rules": OFF_BY_DEFAULT | {rule: {"enabled": False} for rule in BY_COLOUR}}
COLOURS = {"resultTypes": ["violations"], "runOnly": BY_COLOUR}
NOBODY = f"--host-resolver-rules=MAP * ~NOTFOUND, {', '.join(f'EXCLUDE {name}' for name in AT_HOME)}"


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--screenshots", metavar="FOLDER", help="keep a picture of each page that the tests look at there")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The system's Chromium, for the whole session. Raises MissingProgram, which says how to get it.

    Without windows if it is there: a page opens for a fifth of the processor time that one in a window takes.
    """
    executable = shutil.which("chromium-headless-shell") or program("chromium")
    from playwright.sync_api import sync_playwright  # here, because most tests need no browser

    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # it refuses root a sandbox
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=[*QUIET, NOBODY, *root])
        yield running
        running.close()


@pytest.fixture
def browser(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Browser]:
    """To open pages with; when the test is over, nothing may have gone wrong in any of them."""
    folder = request.config.getoption("--screenshots")
    one = Browser(chromium, Path(folder) if folder else None)
    try:
        yield one
        assert one.wrongs == []
    finally:
        one.close()


class Browser:
    """wrongs: what pages did wrong so far. excused: patterns of what is no wrong in this test, as a refusal it provokes."""

    def __init__(self, chromium: Any, pictures: Path | None) -> None:
        self.chromium, self.pictures = chromium, pictures
        self.contexts: list[Any] = []
        self.wrongs: list[str] = []
        self.excused: list[str] = []

    def open(self, address: str | Path, size: str = "wide", dark: bool = False, touch: bool = False) -> Any:
        """A Playwright page, in a profile of its own, at an address or a file. touch: by a finger and not by a mouse."""
        width, height = SIZES[size]
        context = self.chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            is_mobile=touch,
            reduced_motion="reduce",
        )
        self.contexts.append(context)
        context.on("request", self._sent)
        context.on("console", self._said)
        context.on("weberror", lambda error: self._wrong(f"uncaught: {error.error}"))
        page = context.new_page()
        page.goto(address.resolve().as_uri() if isinstance(address, Path) else address)
        return page

    def look(
        self,
        page: Any,
        name: str,
        sizes: tuple[str, ...] = ("wide", "phone"),
        within: str | None = None,
        is_contrast_known: bool = False,
    ) -> None:
        """Look at it light and dark, wide and narrow: all legible and labelled (axe), nothing sticks out; pictures if asked.

        sizes: without one, as large as it is. within: only the part with this selector is new.
        is_contrast_known: the colours are those of a page that was looked at.
        The contrast is looked at in each colour scheme and in each size, but not in each pair.
        """
        before = page.viewport_size
        for number, size in enumerate(sizes or ("",)):
            if size:
                page.set_viewport_size(dict(zip(("width", "height"), SIZES[size], strict=True)))
            for colours in ("light", "dark"):
                page.emulate_media(color_scheme=colours)
                self.picture(page, f"{name}-{size}-{colours}" if size else f"{name}-{colours}", full_page=bool(size))
                if colours == "light":
                    assert unfit(page, within, (SHAPE,)) == [], f"{name}, {size}"
                if not is_contrast_known and (len(sizes) < 2 or number % 2 == ("light", "dark").index(colours)):
                    assert unfit(page, within, (COLOURS,)) == [], f"{name}, {size}, {colours}"
            width = page.viewport_size["width"]
            assert page.evaluate("document.documentElement.scrollWidth") <= width, f"{name} sticks out of a {size} screen"
        page.set_viewport_size(before)
        page.emulate_media(color_scheme="light")

    def picture(self, page: Any, name: str, full_page: bool = False) -> None:
        """Keep a picture, if pictures are asked for."""
        if self.pictures is not None:
            self.pictures.mkdir(parents=True, exist_ok=True)
            page.screenshot(path=self.pictures / f"{name}.png", full_page=full_page)

    def close(self) -> None:
        for context in self.contexts:
            context.close()

    def _sent(self, request: Any) -> None:
        address = urlsplit(request.url)
        if address.scheme in ("http", "https", "ws", "wss") and address.hostname not in {name.strip("[]") for name in AT_HOME}:
            self._wrong(f"a request to leave the machine: {request.url}")

    def _said(self, message: Any) -> None:
        if message.type == "error":
            self._wrong(f"on the console: {message.text} ({message.location.get('url', '')})")

    def _wrong(self, what: str) -> None:
        if not any(re.search(pattern, what) for pattern in self.excused):
            self.wrongs.append(what)


# The texts of a page whose contrast differs: of those that look alike on alike backgrounds, the first. axe would take most of a
# test's processor time for the cells of a table, one by one.
EACH_LOOK = """(within) => {
  const numbers = new Map(), known = new Map([[null, 0]]), seen = new Set();
  const behind = (one) => { // a number for all that is painted behind the content of an element
    if (!known.has(one)) {
      const style = getComputedStyle(one), below = behind(one.parentElement);
      const { backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position } = style;
      const own = [backgroundColor, backgroundImage, opacity, filter, mixBlendMode, position].join(), key = `${below} ${own}`;
      if (!numbers.has(key)) numbers.set(key, own === "rgba(0, 0, 0, 0),none,1,none,normal,static" ? below : numbers.size + 1);
      known.set(one, numbers.get(key));
    }
    return known.get(one);
  };
  const look = (one) => {
    const { color, fontSize, fontWeight, textShadow, display } = getComputedStyle(one), box = one.getBoundingClientRect();
    const there = document.elementsFromPoint(box.x + box.width / 2, box.y + box.height / 2).map(behind); // what lies over it
    const off = one.closest(":disabled, [aria-disabled=true]") || one.closest("label")?.control?.disabled; // axe excuses these
    const around = one.matches("a, [role=link]") ? getComputedStyle(one.parentElement).color : "";
    return [behind(one), color, fontSize, fontWeight, textShadow, display, Boolean(off), around, one.localName, there].join();
  };
  const isText = (node) => node.nodeType === Node.TEXT_NODE && node.data.trim();
  const says = (one) => one.matches("input, select, textarea") || [...one.childNodes].some(isText);
  const all = [...document.querySelectorAll(within ? `${within}, ${within} *` : "body *")].filter((one) => one.checkVisibility());
  return all.filter((one) => says(one) && !seen.has(look(one)) && seen.add(look(one)));
}"""
UNFIT = f"""async ([within, options, isByColour]) => {{
  const places = isByColour ? ({EACH_LOOK})(within) : within ? [within] : [document];
  const found = places.length ? (await axe.run({{ include: places }}, options)).violations : [];
  const where = (one) => one.nodes.slice(0, 3).map(({{ html }}) => html.slice(0, 160)).join(" ");
  return found.map((one) => `${{one.id}}: ${{one.help}}: ${{where(one)}}`);
}}"""


def unfit(page: Any, within: str | None = None, rules: tuple[dict[str, Any], ...] = (SHAPE, COLOURS)) -> list[str]:
    """What axe finds wrong by WCAG 2 A and AA and good practice, each with its rule and the first places."""
    from axe_playwright_python.sync_playwright import Axe

    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    return [one for some in rules for one in page.evaluate(UNFIT, [within, some, some is COLOURS])]
