"""A document as HTML: for the website, and for a page whose text is a document as well."""

from __future__ import annotations

import html
import re
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt

COLOURS = {"+": '<ins class="good">{}</ins>', "-": '<del class="bad">{}</del>'}


def as_html(text: str) -> str:
    """Return a document as HTML. Its headings have the names that links give them, and its tables scroll."""
    tokens = _markdown().parse(text)
    for token, words in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(words.content))
    page: str = _markdown().renderer.render(tokens, _markdown().options, {})
    page = page.replace("<table>", '<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>')
    return page.replace("</table>", "</table></div>")


def anchor(heading: str) -> str:
    """Return the name of a heading in links, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True, "highlight": _coloured}).enable("table")


def _coloured(code: str, language: str, _: str) -> str:
    lines = html.escape(code, quote=False).splitlines()
    colours = COLOURS if language == "diff" else {}
    return "".join(colours.get(line[:1], "{}").format(line) + "\n" for line in lines)
