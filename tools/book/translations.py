"""The Chinese pages: each names in a comment, as a hash, the English text with which a person has compared it.

``README.zh.md`` belongs to ``README.md``, and ``docs/zh/NAME.md`` to ``docs/NAME.md``: a new file is all that a new page needs.
Generated parts do not count for the hash: they are the same in both, but for their language. Only
``python -m tools.book --compared PAGE`` writes it.
"""

import hashlib
import os
import re
from functools import cache
from pathlib import Path

from lab.errors import BadInput, choose_from
from lab.paths import HOME
from lab.report.markdown import anchor

PART = re.compile(r"<!-- generated: (?P<words>[^\n]+?) -->(?P<block>\n?).*?<!-- end -->", re.DOTALL)
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
COMPARED = re.compile(r"<!-- compared with .*? -->")
# the link to the English page is made as it stands there
LINK = re.compile(r"(?<!\[English / 英文)\]\((?!\w+:)([^)#\s]+)(#[^)\s]*)?\)")


def pages() -> dict[Path, Path]:
    """Return the English page of each Chinese page."""
    found = {page: HOME / "docs" / page.relative_to(HOME / "docs/zh") for page in sorted((HOME / "docs/zh").rglob("*.md"))}
    return {HOME / "README.zh.md": HOME / "README.md"} | found


def _name(page: Path) -> str:
    return page.relative_to(HOME).as_posix()


def comment(english: Path) -> str:
    """Return the comment of a Chinese page that was compared with its English page as that is now."""
    text = PART.sub(r"<!-- generated: \g<words> --><!-- end -->", english.read_text(encoding="utf-8"))
    return f"<!-- compared with {_name(english)}: {hashlib.sha256(text.encode()).hexdigest()[:16]} -->"


def stale() -> list[str]:
    """Return a sentence for each Chinese page whose English page has changed since a person compared the two."""
    return [
        f"compare {_name(page)} with {_name(english)}, then run `.venv/bin/python -m tools.book --compared {_name(page)}`"
        for page, english in pages().items()
        if comment(english) not in page.read_text(encoding="utf-8")
    ]


def record_comparison(name: str) -> None:
    """Write into a Chinese page that a person has compared it with its English page as it is now. Raises BadInput."""
    by_name = {_name(page): page for page in pages()}
    page = by_name[choose_from("Chinese page", name, by_name)]
    text, number = COMPARED.subn(comment(pages()[page]), page.read_text(encoding="utf-8"))
    if number != 1:
        raise BadInput(f"{name} needs one line <!-- compared with PAGE: HASH -->")
    page.write_text(text, encoding="utf-8")


def relinked(text: str, page: Path) -> str:
    """Return a generated part as it stands in a Chinese page: its links, made for the English page, lead to the same files.

    A link to a page that there is in Chinese as well leads there, and to the heading in the same place.
    """
    chinese = {english: one for one, english in pages().items()} if LINK.search(text) else {}

    def again(link: re.Match[str]) -> str:
        target, heading = Path(os.path.normpath(pages()[page].parent / link[1])), link[2] or ""
        if target in chinese and (there := _same_heading(target, chinese[target], heading)) is not None:
            target, heading = chinese[target], there
        return f"]({os.path.relpath(target, page.parent)}{heading})"

    return LINK.sub(again, text)


def _same_heading(english: Path, chinese: Path, link: str) -> str | None:
    """Return the Chinese anchor of an English heading; None if the pages do not have it in the same place."""
    if not link:
        return ""
    there, here = anchors(english), anchors(chinese)
    return f"#{here[there.index(link[1:])]}" if link[1:] in there and len(there) == len(here) else None


@cache
def anchors(page: Path) -> list[str]:
    """Return the anchors of a page's headings in their order."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return [anchor(heading) for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE)]
