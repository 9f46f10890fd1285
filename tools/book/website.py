"""The website: the documents as HTML, with every page, picture and source that they lead to, as files for any static host.

It begins with the READMEs and follows each link, so every link of the website leads to a file of it. All pages have the same ways
and a search at the top, and the commit at the foot. The search needs a server of files, as Pagefind loads its index in parts.
"""

import html
import os
import re
import shutil
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

from lab.errors import BadInput
from lab.evidence.record_lines import files_of, read_lines
from lab.evidence.run_folder import replace
from lab.language import Language
from lab.paths import HOME
from lab.report import run_data, site
from lab.report.html import PAGES, page
from lab.report.markdown import as_html
from lab.report.run_page import draw_run
from lab.run import environment
from lab.story import say, say_run
from tools.book import figures, generate, translations

ENGLISH, CHINESE = Language.ENGLISH, Language.CHINESE
FIRST = {ENGLISH: HOME / "README.md", CHINESE: HOME / "README.zh.md"}
WATCHED = ("none-rush", "setnx-holder_crash", "ttl-slow_holder", "watchdog-frozen_holder", "redlock-amnesia")
RUNS = HOME / "reports" / "watch"  # their pages; git does not keep them
SWITCH = 'id="language"'  # a page that has it changes its language itself
LINK = re.compile(r'(?P<before>\b(?:href|src|srcset)="|"(?=\.\./))(?P<to>[^"#?\\$:]+)(?P<part>[?#][^"\\]*)?"')
HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
PARTS = re.compile(r'<h([23]) id="([^"]+)">(.*?)</h')  # the headings of a contents list
NEIGHBOURS = re.compile(r"<!-- generated: neighbours .*?-->\n<p>(.*?)</p>", re.DOTALL)
SEARCH = [sys.executable, "-m", "pagefind", "--silent", "--keep-index-url", "--include-characters", "_"]


def write(folder: Path) -> Path:
    """Write the website into a folder, and return its first page. A file that was there before is replaced, or stays.

    Raises BadInput for a link that leads nowhere.
    """
    levels = sorted(generate.LEVEL_PAGES.glob("*.html"))
    found = [*FIRST.values(), *generate.pages(), *levels, _runs()]
    for path in found:  # it grows on the way
        target = folder / address(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".svg":
            shutil.copyfile(path, target)
            continue
        text, linked = followed(_made(path), path)
        replace(target, framed(text, path).encode())
        found += dict.fromkeys(one for one in linked if one not in found)
    subprocess.run([*SEARCH, "--site", folder], check=True)
    return folder / address(FIRST[ENGLISH])


def address(path: Path) -> Path:
    """Return the path on the website of a file of the project."""
    place = path.relative_to(HOME)
    if path.name == "README.md":
        return place.with_name("index.html")
    if path.suffix == ".md":
        return place.with_suffix(".html")
    return place if path.suffix in (".html", ".svg") else place.with_name(f"{place.name}.html")


def framed(text: str, source: Path) -> str:
    """Return a page with the ways to all others and the search at the top, and with the commit at the foot."""
    place = address(source)
    to = partial(_way, place)
    text = text.replace(' class="outside"', "")  # the chapters, which a server of runs does not have
    head, body = text.replace("<main", '<main id="main" tabindex="-1" data-pagefind-body', 1).split("<body>\n")
    return head + page(
        "website_frame.html",
        body=body,
        to=to,
        here=place.name,
        pagefind=os.path.relpath("pagefind", place.parent),
        website={one: say.words(one)["website"] for one in Language},
        levels=(generate.LEVEL_PAGES / site.INDEX).exists(),
        other=None if SWITCH in text else to(_pairs().get(source, FIRST[CHINESE])),
        commit=environment.commit() or "unknown",
    )


def _way(place: Path, name: str | Path) -> str:
    return os.path.relpath(address(HOME / name), place.parent)


@cache
def _pairs() -> dict[Path | None, Path]:
    """Return by document its translation, and by translation its document."""
    return {page: other for pair in translations.pages().items() for page, other in (pair, pair[::-1])}


def _made(path: Path) -> str:
    """Return a page of the website before its links lead there."""
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = as_html(path.read_text(encoding="utf-8"))
        if path in FIRST.values():  # its first links are for GitHub: here they are above the page
            text = re.sub(r"<p><a .*</p>\n", "", text, count=1)
    else:
        text = f"<h1><code>{path.name}</code></h1>\n<pre><code>{html.escape(path.read_text(encoding='utf-8'))}</code></pre>"
    heading = HEADING.search(text)
    title = html.unescape(re.sub("<[^>]+>", "", heading[1])) if heading else path.name
    language = CHINESE if ".zh." in path.name or path.is_relative_to(HOME / "docs" / "zh") else ENGLISH
    about = {"contents": PARTS.findall(text), "neighbours": NEIGHBOURS.search(text), "says": say.words(language)["website"]}
    return page("website.html", text=text, title=title, chinese=language is CHINESE, **about)


def followed(text: str, source: Path) -> tuple[str, list[Path]]:
    """Return a page whose links lead to the website's files, and the files of the project that it leads to. Raises BadInput."""
    linked = []

    def led(link: re.Match[str]) -> str:
        path = Path(os.path.normpath(source.parent / html.unescape(link["to"])))
        if not path.exists():
            raise BadInput(f"{source.relative_to(HOME)}: the link {link['to']} leads nowhere")
        linked.append(path)
        return f'{link["before"]}{os.path.relpath(address(path), address(source).parent)}{link["part"] or ""}"'

    return LINK.sub(led, text), linked


def _runs() -> Path:
    """Draw the runs to watch in both languages, from their kept facts, and return the page with links to them."""
    titles = {}
    for name in WATCHED:
        into, picture = RUNS / name, figures.timeline(figures.illustrations()[name])
        titles[name] = {language: say_run.title(picture, language) for language in Language}
        into.mkdir(parents=True, exist_ok=True)
        for file, content in files_of(read_lines(figures.KEPT)[name]).items():
            replace(into / file, content)
        draw_run(run_data.load(into), picture, Language)
    words = {language: say.words(language)["website"] for language in Language}
    replace(RUNS / site.INDEX, page("website_runs.html", titles=titles, words=words, pages=PAGES).encode())
    return RUNS / site.INDEX
