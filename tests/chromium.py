"""Open pages in the system's Chromium, driven by Playwright. A missing Chromium fails the tests; nothing is skipped.

Each error of a page fails the test that has it open: an error on the console, an uncaught error, a request that
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
QUIET = [  # the browser sends nothing by itself
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
OFF_BY_DEFAULT = {"label-content-name-mismatch": {"enabled": True}}  # a rule of WCAG 2.1 A, which axe runs only if it is enabled
SHAPE = {"resultTypes": ["violations"], "rules": OFF_BY_DEFAULT | {rule: {"enabled": False} for rule in BY_COLOUR}}
COLOURS = {"resultTypes": ["violations"], "runOnly": BY_COLOUR}
NOBODY = f"--host-resolver-rules=MAP * ~NOTFOUND, {', '.join(f'EXCLUDE {name}' for name in AT_HOME)}"


def pytest_addoption(parser: Any) -> None:
    parser.addoption("--screenshots", metavar="FOLDER", help="keep a picture of each page that the tests look at there")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Yield the system's Chromium, for the whole session. Raises MissingProgram, which says how to install it.

    If its program without windows is installed, that is used: a page then takes a fifth of the processor time.
    """
    executable = shutil.which("chromium-headless-shell") or program("chromium")
    from playwright.sync_api import sync_playwright  # here, because most tests need no browser

    root = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium has no sandbox for root
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=[*QUIET, NOBODY, *root])
        yield running
        running.close()


@pytest.fixture
def browser(chromium: Any, request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Yield a browser that opens pages. It fails the test if one of its pages had an error."""
    folder = request.config.getoption("--screenshots")
    one = Browser(chromium, Path(folder) if folder else None)
    try:
        yield one
        assert one.wrongs == []
    finally:
        one.close()


class Browser:
    """wrongs: the errors of its pages. excused: patterns of the errors that a test expects, such as a refusal."""

    def __init__(self, chromium: Any, pictures: Path | None) -> None:
        self.chromium, self.pictures = chromium, pictures
        self.contexts: list[Any] = []
        self.wrongs: list[str] = []
        self.excused: list[str] = []

    def open(self, address: str | Path, size: str = "wide", dark: bool = False, touch: bool = False) -> Any:
        """Open an address or a file in a profile of its own. Return the Playwright page. touch: with a touch screen."""
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
        """Check a page light and dark, wide and narrow: it is legible and labelled (axe), and nothing sticks out. Keep pictures.

        sizes: empty for the present size. within: check only the part with this selector.
        is_contrast_known: the same colours were checked on another page.
        The contrast is checked in each colour scheme and in each size, but not in each pair.
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
        """Keep a picture, if the tests run with ``--screenshots``."""
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


# Find the texts of a page that can differ in contrast: of texts that look alike, the first. axe would take most of a
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
    """Return the violations of WCAG 2 A and AA and of good practice that axe finds, each with its rule and its first places."""
    from axe_playwright_python.sync_playwright import Axe

    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    return [one for some in rules for one in page.evaluate(UNFIT, [within, some, some is COLOURS])]
