"""The website in a browser, as a static host serves it below a path of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tools.book import website


@pytest.fixture
def address(made_once) -> Iterator[str]:
    """Yield the address of the website."""
    folder = made_once("website", lambda folder: website.write(folder / "below"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=folder))
    threading.Thread(target=server.serve_forever).start()
    yield f"http://127.0.0.1:{server.server_port}/below"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("folder", "current", "word", "found"),
    [("docs", "The book", "setnx", "/docs/ladder/setnx.html"), ("docs/zh", "各章", "误删", "/docs/zh/")],
)
def test_reader_finds_the_way(browser, address, folder, current, word, found):
    """In both languages, a reader sees the page's section, skips to the text, copies code, saves a picture, and finds a word."""
    page = browser.open(f"{address}/{folder}/ladder/uuid.html")
    assert page.locator(".site [aria-current]:visible").inner_text() == current
    assert page.locator(".contents a:visible").count() > 2
    browser.look(page, f"website-{current}")

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.id === 'main'")
    page.locator("article .block button").first.click()
    page.wait_for_function("document.querySelector('.block button').textContent.match(/Copied|Selected|已复制|已选中/)")

    with page.expect_download() as saved:
        page.locator(".save button").first.click()
    assert saved.value.suggested_filename.endswith(".png")
    assert saved.value.path().read_bytes().startswith(b"\x89PNG")

    page.keyboard.press("Control+k")
    page.keyboard.type(word)
    result = page.locator(f"pagefind-results a[href*='{found}']").first
    result.wait_for()
    browser.look(page, f"website-found-{current}", sizes=("phone",))
    result.click()
    page.wait_for_url(f"**{found}**")
    assert word in page.locator("main").inner_text()


def test_page_of_the_ladder(browser, address):
    """The ladder's page leads to each place by one link only, and saves a chart as SVG and as PNG."""
    page = browser.open(f"{address}/reports/reference/index.html")
    ways = page.locator(".site a:visible, main .ways a").evaluate_all("ways => ways.map(way => way.pathname)")
    assert len(set(ways)) == len(ways) > 3
    for ending, way in ((".svg", page.get_by_role("link", name="SVG")), (".png", page.get_by_role("button", name="PNG"))):
        with page.expect_download() as saved:
            way.first.click()
        assert saved.value.suggested_filename.endswith(ending)
        assert saved.value.path().stat().st_size > 5000
