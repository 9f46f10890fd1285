"""Check the documents' links: each leads to an existing file, and to an existing heading."""

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from urllib.parse import unquote

from lab.paths import HOME
from lab.report.markdown import anchor

LINK = re.compile(r"""(?:\]\(|(?:src|srcset|href)=")(?P<to>[^)"\s]+)""")
ELSEWHERE = re.compile(r"\w+:")  # the beginning of an address of another site
FENCED = re.compile(r"^```\w*\n(.*?)^```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`[^`\n]*`")


@cache
def anchors(page: Path) -> frozenset[str]:
    """Return the anchors of a page: the link names of its headings, and explicit anchors before headings."""
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return frozenset([*map(anchor, headings), *re.findall(r'^<a id="(.+)"></a>$', text, re.MULTILINE)])


def links(path: Path) -> Iterator[tuple[str, Path, str]]:
    """Yield the links of a document to files of the project: the text of the link, the file, and the heading in it."""
    text = CODE.sub("", FENCED.sub("", path.read_text(encoding="utf-8")))
    for match in LINK.finditer(text):
        if not ELSEWHERE.match(match["to"]):
            file, _, heading = unquote(match["to"]).partition("#")
            yield match["to"], Path(os.path.normpath(path.parent / file)) if file else path, heading


def wrong(documents: Sequence[Path]) -> Iterator[str]:
    """Yield a sentence for each link that leads nowhere."""
    for path in documents:
        for link, file, heading in links(path):
            if not file.exists() or (heading and file.suffix == ".md" and heading not in anchors(file)):
                yield f"dead link: {path.relative_to(HOME)}: {link}"
