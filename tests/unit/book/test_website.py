"""Test the website: its links work, it loads nothing from other sites, and each page leads home and names the commit."""

import os
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from lab.errors import BadInput
from lab.run import environment
from tools.book import generate, website

pytestmark = pytest.mark.whole  # the whole site is written
TOP_MUST = ("index.html", "README.zh.html", "reports/watch/index.html", "docs/index.html", "docs/zh/ladder/none.html")


class Read(HTMLParser):
    """The language, the ids and the links of a page, and the files that a browser loads with it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.language = ""
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.names.add(found.get("id") or "")
        if tag == "html":
            self.language = found.get("lang") or ""
        if tag == "a":
            self.links.append(found.get("href") or "")
        else:
            self.loaded += [found[name] or "" for name in ("src", "srcset", "href", "xlink:href") if name in found]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Read]:
    folder = tmp_path_factory.mktemp("website")
    website.write(folder)
    return {path: Read(path) for path in folder.rglob("*.html")}


def top(pages: dict[Path, Read]) -> Path:
    return min(pages, key=lambda path: len(path.parts)).parent


def inside(path: Path, page: Read) -> Iterator[tuple[str, Path, str]]:
    """Yield the links of a page to the website: each as it is written, with its file and the id in that file."""
    for link in (*page.links, *page.loaded):
        if "//" not in link and not link.startswith("data:") and "${" not in link:
            file, _, name = unquote(link).partition("#")
            file = file.partition("?")[0]
            yield link, Path(os.path.normpath(path.parent / file)) if file else path, name


def test_every_link_works(pages):
    """Each link to the website leads to a file of it, and to a heading or an element of that file."""
    dead = [
        (path.name, link)
        for path, page in pages.items()
        for link, file, name in inside(path, page)
        if not file.is_file() or (name and file in pages and name not in pages[file].names)
    ]

    assert dead == []


def test_nothing_comes_from_elsewhere(pages):
    """No page loads anything from another site: it can be read without a network."""
    foreign = [(path.name, one) for path, page in pages.items() for one in page.loaded if "//" in one]

    assert foreign == []
    assert [path.name for path in pages if "url(http" in path.read_text(encoding="utf-8")] == []


def test_every_page_leads_home(pages):
    """Each page has a link to the first page, and names the commit."""
    home = top(pages)
    lost = [
        path
        for path, page in pages.items()
        if not {home / "index.html", home / "README.zh.html"} & {file for _, file, _ in inside(path, page)}
    ]

    assert lost == []
    assert [path for path in pages if f"commit {environment.commit() or 'unknown'}" not in path.read_text(encoding="utf-8")] == []


def test_one_switch_of_the_language(pages):
    """A page with its own language switch gets no second one from the website."""
    texts = {path: path.read_text(encoding="utf-8") for path in pages}

    two = [path for path, text in texts.items() if website.SWITCH in text and "hreflang" in text.partition("<main")[0]]
    assert two == []


def test_a_watched_run_goes_on(pages):
    """The page of a watched run leads to the chapter of its stage, and to the chapter of the stage that solves its problem."""
    home, run = top(pages), website.RUNS.relative_to(website.HOME) / "ttl-slow_holder" / "report.html"
    ways = {file.relative_to(home).as_posix() for _, file, _ in inside(home / run, pages[home / run])}

    assert ways >= {"docs/ladder/ttl.html", "docs/ladder/uuid.html"}


def test_website_is_complete(pages):
    """The website has the documents, the levels and the watched runs, and its Chinese pages state their language."""
    home = top(pages)
    documents = {home / website.address(path) for path in generate.documents()}

    assert documents - set(pages) == set()
    assert [name for name in TOP_MUST if home / name not in pages] == []
    assert len(list((home / website.RUNS.relative_to(website.HOME)).glob("*/report.zh.html"))) == len(website.WATCHED)
    chinese = [path for path in pages if path.is_relative_to(home / "docs" / "zh") or ".zh." in path.name]
    assert {pages[path].language for path in chinese} == {"zh-CN"}


def test_dead_link_is_refused():
    """A link that leads to no file of the project is refused, with the name of its page."""
    with pytest.raises(BadInput, match=r"README\.md: the link docs/nothing\.md leads nowhere"):
        website.followed('<a href="docs/nothing.md">', website.HOME / "README.md")
