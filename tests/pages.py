"""Check and read the pages that the lab has written."""

import json
import re
from html import unescape
from pathlib import Path
from typing import Any


def assert_self_contained(page: Path) -> None:
    """Check that a page loads nothing from elsewhere. Its links, which a reader may follow, are allowed."""
    text = re.sub(r"<a [^>]*>", "", page.read_text(encoding="utf-8"))
    loaded = re.findall(r"""(?:src|href)\s*=\s*["']([^"'#][^"']*)["']""", text) + re.findall(r"url\(([^#)][^)]*)\)", text)

    assert [link for link in loaded if not link.startswith(("data:", "#"))] == []
    assert "@import" not in text


def data_of(page: Path, name: str = "data") -> Any:
    """Return the data that a page has for its scripts under this name."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def cells_of(matrix: Path) -> list[dict[str, Any]]:
    """Return the cells of a matrix that its page has, as a reader sees them in an opened cell."""
    text = matrix.read_text(encoding="utf-8")
    data = data_of(matrix)
    fields = re.findall(r'"(\w+)"', re.search(r"const FIELDS = \[(.*?)\]", text)[1])
    texts = len(fields) - 2
    return [
        dict(zip(fields, [*(data["texts"][place] for place in row[:texts]), *row[texts:]], strict=True)) for row in data["cells"]
    ]


def rows_of(index: Path) -> list[dict[str, Any]]:
    """Return the rows of the table of runs, as a reader sees them."""
    found = []
    for row in re.findall(r"<tr (data-run=.*?)</tr>", index.read_text(encoding="utf-8"), re.DOTALL):
        about = {name: unescape(value) for name, value in re.findall(r'data-(\w+)="([^"]*)"', row)}
        seen = re.search(r'<td class="[A-Z][^"]*">([^<]*)', row)[1]
        figures = [int(re.sub(r"\D", "", one)) for one in re.findall(r'<td class="n">([^<]*)<', row)[:3]]
        page = re.search(r'<a href="runs/[^"]*/([^"/]*)">', row)
        found.append(about | dict(zip(("acknowledged", "final", "lost"), figures, strict=True)))
        found[-1] |= {"headline": unescape(seen), "page": page[1] if page else ""}
    return found
