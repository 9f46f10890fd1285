"""The website: the documents as HTML, with every page, picture and source that they lead to, as files for any static host.

It begins with the READMEs and follows each link, so every link of the website leads to a file of it. All pages have the same ways
at the top, and the commit at the foot.
"""

import html
import os
import re
import shutil
from functools import cache, partial
from pathlib import Path

from lab.errors import BadInput
from lab.evidence.record_lines import files_of, read_lines
from lab.evidence.run_folder import replace
from lab.language import NAMES, Language
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
RUNS = "watch"  # their folder; the page beside it lists them
SWITCH = 'id="language"'  # a page that has it changes its language itself
LINK = re.compile(r'(?P<before>\b(?:href|src|srcset)="|"(?=\.\./))(?P<to>[^"#?\\$:]+)(?P<part>[?#][^"\\]*)?"')
OWN_WAYS = re.compile(r'(?<=<nav class="ways")[^\n]*')
LEADS = re.compile(r'<a href="([^"?]+)[^>]*>[^<]*</a>')
HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)


def write(folder: Path) -> Path:
    """Write the website into a folder, and return its first page. A file that was there before is replaced, or stays.

    Raises BadInput for a link that leads nowhere.
    """
    _draw_runs(folder)
    levels = sorted(generate.LEVEL_PAGES.glob("*.html"))
    found = dict.fromkeys((*FIRST.values(), *generate.pages(), *levels))  # in the order in which they are found
    queue = list(found)
    for path in queue:  # it grows on the way
        target = folder / address(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".svg":
            shutil.copyfile(path, target)
            continue
        text, linked = followed(_made(path), path)
        replace(target, framed(text, address(path), path).encode())
        queue += [one for one in linked if one not in found]
        found |= dict.fromkeys(linked)
    return folder / address(FIRST[ENGLISH])


def address(path: Path) -> Path:
    """Return where a file of the project is on the website."""
    place = path.relative_to(HOME)
    if path.name == "README.md":
        return place.with_name("index.html")
    if path.suffix == ".md":
        return place.with_suffix(".html")
    return place if path.suffix in (".html", ".svg") else place.with_name(f"{place.name}.html")


def framed(text: str, place: Path, source: Path | None = None) -> str:
    """Return a page with the ways to all others, and with the commit. place: where it is on the website.

    Its own ways that are the same are left out.
    """
    to = partial(_way, place)
    ways = page(
        "website_ways.html",
        to=to,
        website={one: say.words(one)["website"] for one in Language},
        levels=(generate.LEVEL_PAGES / site.INDEX).exists(),
        other=None if SWITCH in text else to(_pairs().get(source, FIRST[CHINESE])),
    )
    known = set(LEADS.findall(ways))
    text = OWN_WAYS.sub(lambda own: LEADS.sub(lambda way: "" if way[1] in known else way[0], own[0]), text)
    said = partial(say.text, "website", "foot", commit=environment.commit() or "unknown")
    foot = "\n".join(f'<footer class="site soft" lang="{names.tag}">{said(one)}</footer>' for one, names in NAMES.items())
    return text.replace("<body>\n", f"<body>\n{ways}", 1).replace("</body>", f"{foot}\n</body>")


def _way(place: Path, name: str | Path) -> str:
    return os.path.relpath(address(HOME / name), place.parent)


@cache
def _pairs() -> dict[Path | None, Path]:
    """Return the page in the other language of each document that has one."""
    return {page: other for pair in translations.pages().items() for page, other in (pair, pair[::-1])}


def _made(path: Path) -> str:
    """Return a page of the website before its links lead there."""
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        text = as_html(path.read_text(encoding="utf-8"))
        if path in FIRST.values():  # its first links are for GitHub: here they stand above
            text = re.sub(r"<p><a .*</p>\n", "", text, count=1)
    else:
        text = f"<h1><code>{path.name}</code></h1>\n<pre><code>{html.escape(path.read_text(encoding='utf-8'))}</code></pre>"
    heading = HEADING.search(text)
    title = html.unescape(re.sub("<[^>]+>", "", heading[1])) if heading else path.name
    return page("website.html", text=text, title=title, chinese=".zh." in path.name or path.is_relative_to(HOME / "docs" / "zh"))


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


def _draw_runs(folder: Path) -> None:
    """Draw the runs to watch in both languages, from what is kept of them, and the page that lists them."""
    titles = {}
    for name in WATCHED:
        into, picture = folder / RUNS / name, figures.timeline(figures.illustrations()[name])
        titles[name] = {language: say_run.title(picture, language) for language in Language}
        into.mkdir(parents=True, exist_ok=True)
        for file, content in files_of(read_lines(figures.KEPT)[name]).items():
            replace(into / file, content)
        draw_run(run_data.load(into), picture, Language)
        for made in (into / file for file in PAGES.values()):
            replace(made, framed(made.read_text(encoding="utf-8"), made.relative_to(folder)).encode())
    words = {language: say.words(language)["website"] for language in Language}
    text = page("website_runs.html", titles=titles, words=words, pages=PAGES)
    replace(folder / f"{RUNS}.html", framed(text, Path(f"{RUNS}.html")).encode())
