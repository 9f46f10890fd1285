"""The Chinese pages: what each must share with its English page, and whether a person has compared the two.

``README.zh.md`` belongs to ``README.md``, and ``docs/zh/NAME.md`` to ``docs/NAME.md``: a new file is all that a new page needs. A
Chinese page names in a comment the English text with which it was compared, as a hash. Generated parts do not count for the
hash: they are the same in both, but for their language. Only ``python -m tools.book --compared PAGE`` writes it.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from app.locks import PARTS, stages
from lab.errors import BadInput, choose_from
from lab.language import exactly
from lab.paths import HOME
from lab.report.markdown import anchor

PART = re.compile(r"<!-- generated: (?P<words>[^\n]+?) -->(?P<block>\n?).*?<!-- end -->", re.DOTALL)


def emptied(text: str) -> str:
    """Return the text with its markers, and without what was made for them."""
    return PART.sub(lambda part: f"<!-- generated: {part['words']} --><!-- end -->", text)


def without_parts(text: str) -> str:
    """Return what a person has written."""
    return PART.sub("", text)


CHINESE = Path("docs/zh")
README = Path("README.zh.md")
LADDER = tuple(name for names in PARTS.values() for name in names)
# pages that there must be; others may be added
MUST = (README, CHINESE / "class.md")
# the comment of a page that is only begun has NOT_YET: nothing of it is compared
COMPARED = re.compile(r"<!-- compared with (?P<page>\S+): (?P<hash>not yet|[0-9a-f]{16}) -->")
NOT_YET = "not yet"
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
# the link to the English page is made as it stands there
LINK = re.compile(r"(?<!\[English / 英文)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")
A_NUMBER = re.compile(r"\d[\d.]*\d")  # of two digits at least: smaller ones are words in English


class Page(NamedTuple):
    """A Chinese page. All paths are relative to the project's folder."""

    chinese: Path
    home: Path = HOME

    @property
    def english(self) -> Path:
        """Return the page that it translates."""
        return Path("README.md") if self.chinese == README else Path("docs") / self.chinese.relative_to(CHINESE)

    @property
    def text(self) -> str:
        """Return the Chinese text."""
        return (self.home / self.chinese).read_text(encoding="utf-8")

    @property
    def source(self) -> str:
        """Return the English text."""
        return (self.home / self.english).read_text(encoding="utf-8")

    @property
    def compared_with(self) -> str:
        """Return the hash of the English text with which the page was compared, or NOT_YET. Raises BadInput."""
        found = COMPARED.search(self.text)
        if found is None or found["page"] != self.english.as_posix():
            raise BadInput(f"{self.chinese} needs the comment <!-- compared with {self.english.as_posix()}: {NOT_YET} -->")
        return found["hash"]


def pages(home: Path = HOME) -> list[Page]:
    """Return all Chinese pages. Raises BadInput where one is missing, or translates nothing."""
    found = [README, *sorted(path.relative_to(home) for path in (home / CHINESE).rglob("*.md"))]
    for path in dict.fromkeys((*MUST, *found)):
        page = Page(path, home)
        if not (home / path).is_file():
            raise BadInput(f"the Chinese page {path} is missing")
        if not (home / page.english).is_file():
            raise BadInput(f"{path} translates {page.english}, which is not there")
    return [Page(path, home) for path in found]


def page(name: str, home: Path = HOME) -> Page:
    """Return a Chinese page by its path. Raises BadInput."""
    by_name = {one.chinese.as_posix(): one for one in pages(home)}
    return by_name[choose_from("Chinese page", name, by_name)]


def of(path: Path) -> Page | None:
    """Return the Chinese page at a path; None for every other file."""
    return next((one for one in pages() if one.home / one.chinese == path), None)


def fingerprint(english: str) -> str:
    """Return the hash of what a person has written, and of the markers of the generated parts."""
    return hashlib.sha256(emptied(english).encode()).hexdigest()[:16]


def is_stale(one: Page) -> bool:
    """Return whether the English page has changed since the two were compared."""
    return one.compared_with not in (NOT_YET, fingerprint(one.source))


def differences(one: Page) -> list[str]:
    """Return what the two pages should have in common and do not: generated parts, commands, headings, figures."""
    return [] if one.compared_with == NOT_YET else list(_differences(one.text, one.source))


def _differences(chinese: str, english: str) -> Iterator[str]:
    mine, others = _parts(chinese), _parts(english)
    yield from (f"the generated part is missing: {words}" for words in (others - mine).elements())
    yield from (f"the English page has no generated part: {words}" for words in (mine - others).elements())
    if _commands(chinese) != _commands(english):
        yield f"the commands differ: {_commands(chinese)} and {_commands(english)}"
    if _headings(chinese) != _headings(english):
        yield f"the headings differ in number or depth: {_headings(chinese)} and {_headings(english)}"
    typed = set(A_NUMBER.findall(_prose(english)))
    yield from (
        f"the English page does not have the figure {one}" for one in A_NUMBER.findall(_prose(chinese)) if one not in typed
    )


def _parts(text: str) -> Counter[str]:
    return Counter(part["words"] for part in PART.finditer(text))


def _commands(text: str) -> list[str]:
    """Return the lines of code, without comments: those may be Chinese."""
    lines = "\n".join(FENCED.findall(without_parts(text))).splitlines()
    return [command for line in lines if (command := re.sub(r"(^|\s+)#.*", "", line).rstrip())]


def _headings(text: str) -> list[int]:
    return [len(signs) for signs in re.findall(r"^(#+) ", FENCED.sub("", without_parts(text)), re.MULTILINE)]


def _prose(text: str) -> str:
    """Return what a person has written, without code, comments and the targets of links."""
    return re.sub(r"`[^`\n]*`|<!--.*?-->|\]\([^)]*\)", "", FENCED.sub("", without_parts(text)))


def relinked(text: str, one: Page) -> str:
    """Return a generated part as it stands in the Chinese page: its links, made for the English page, lead to the same files.

    A link to a page that there is in Chinese as well leads there, and to the heading in the same place.
    """
    chinese = {each.english.as_posix(): each for each in pages(one.home)} if LINK.search(text) else {}

    def again(link: re.Match[str]) -> str:
        target, heading = os.path.normpath(one.english.parent / link[1]), link[2] or ""
        if (page := chinese.get(target)) and (there := _same_heading(page, heading)) is not None:
            return f"]({os.path.relpath(page.chinese, one.chinese.parent)}{there})"
        return f"]({os.path.relpath(target, one.chinese.parent)}{heading})"

    return LINK.sub(again, text)


def _same_heading(page: Page, link: str) -> str | None:
    """Return the Chinese anchor of an English heading; None where the pages do not have it in the same place."""
    if not link:
        return ""
    english, chinese = anchors(page.source), anchors(page.text)
    return f"#{chinese[english.index(link[1:])]}" if link[1:] in english and len(english) == len(chinese) else None


def anchors(text: str) -> list[str]:
    """Return the anchors of a page's headings in their order."""
    return [anchor(heading) for heading in re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)]


def to_do(home: Path = HOME) -> list[str]:
    """Return what a person has to do for the Chinese pages, a sentence each."""
    found = []
    for one in pages(home):
        name, source = one.chinese.as_posix(), one.english.as_posix()
        found += [f"to do: {name}: {what}" for what in differences(one)]
        if one.compared_with == NOT_YET:
            found.append(f"to do: {name} was never compared with {source}")
        elif is_stale(one):
            found.append(
                f"to do: {source} has changed: compare {name} with it, then `.venv/bin/python -m tools.book --compared {name}`"
            )
    return found


def chapters(home: Path = HOME) -> list[str]:
    """Return the stages of the ladder whose chapter there is in Chinese."""
    return [name for name in LADDER if (home / CHINESE / "ladder" / f"{name}.md").is_file()]


def new_stages() -> list[str]:
    """Return a sentence for each stage without a Chinese chapter, or whose title or idea is English on the lab's Chinese page."""
    missing = [name for name in LADDER if name not in chapters()]
    said = {name: stage.story for name, stage in stages().items()}
    new = [name for name, one in said.items() if not (exactly("stage", [one.title]) and exactly("idea", [one.idea]))]
    found = [f"to do: the Chinese chapter {(CHINESE / 'ladder' / name).as_posix()}.md" for name in missing]
    return found + [f"to do: the Chinese title and idea of {name} in lab/language/zh/stages.toml" for name in new]


def record_comparison(name: str, home: Path = HOME) -> Path:
    """Write into a Chinese page that a person has compared it with its English page as it is now. Returns its path.

    Raises BadInput where the two still differ in what they must share.
    """
    one = page(name, home)
    one.compared_with  # noqa: B018 - the comment must be there
    if found := list(_differences(one.text, one.source)):
        raise BadInput(f"{name} is not yet like {one.english}: " + "; ".join(found))
    comment = f"<!-- compared with {one.english.as_posix()}: {fingerprint(one.source)} -->"
    (home / one.chinese).write_text(COMPARED.sub(comment, one.text), encoding="utf-8")
    return one.chinese
