"""Note in each Chinese page, as a hash, the English text with which a person has compared it.

``README.zh.md`` belongs to ``README.md``, and ``docs/zh/NAME.md`` to ``docs/NAME.md``: a new page needs only a new file.
Generated parts do not count for the hash, because both pages have the same parts. Only
``python -m tools.book --compared PAGE`` writes it.
"""

import hashlib
import re
from pathlib import Path

from lab.errors import BadInput, choose_from
from lab.paths import HOME

PART = re.compile(r"<!-- generated: (?P<words>[^\n]+?) -->(?P<block>\n?).*?<!-- end -->", re.DOTALL)
COMPARED = re.compile(r"<!-- compared with .*? -->")


def pages() -> dict[Path, Path]:
    """Return the English page of each Chinese page."""
    pairs = {page: HOME / "docs" / page.relative_to(HOME / "docs/zh") for page in sorted((HOME / "docs/zh").rglob("*.md"))}
    return {HOME / "README.zh.md": HOME / "README.md"} | pairs


def _name(page: Path) -> str:
    return page.relative_to(HOME).as_posix()


def comment(english: Path) -> str:
    """Return the comment of a Chinese page that was compared with the current English page."""
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
    """Note in a Chinese page that a person has compared it with the current English page. Raises BadInput."""
    by_name = {_name(page): page for page in pages()}
    page = by_name[choose_from("Chinese page", name, by_name)]
    text, number = COMPARED.subn(comment(pages()[page]), page.read_text(encoding="utf-8"))
    if number != 1:
        raise BadInput(f"{name} needs one line <!-- compared with PAGE: HASH -->")
    page.write_text(text, encoding="utf-8")
