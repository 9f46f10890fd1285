"""What tests ask of a page that was written."""

import json
import re
from pathlib import Path
from typing import Any


def assert_self_contained(page: Path) -> None:
    """No request leaves the page: nothing is loaded from anywhere. Where a reader may go from it is his own choice."""
    text = re.sub(r"<a [^>]*>", "", page.read_text(encoding="utf-8"))
    loaded = re.findall(r"""(?:src|href)\s*=\s*["']([^"'#][^"']*)["']""", text) + re.findall(r"url\(([^#)][^)]*)\)", text)

    assert [link for link in loaded if not link.startswith(("data:", "#"))] == []
    assert "@import" not in text


def data_of(page: Path, name: str = "data") -> Any:
    """Return what a page holds for its scripts under a name."""
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    return json.loads(found[1])


def cells_of(matrix: Path) -> list[dict[str, Any]]:
    """The cells that the page of a matrix holds for its script, as a reader sees them when he opens one."""
    text = matrix.read_text(encoding="utf-8")
    data = data_of(matrix)
    fields = re.findall(r'"(\w+)"', re.search(r"const FIELDS = \[(.*?)\]", text)[1])
    texts = len(fields) - 2
    return [
        dict(zip(fields, [*(data["texts"][place] for place in row[:texts]), *row[texts:]], strict=True)) for row in data["cells"]
    ]


def rows_of(index: Path) -> list[dict[str, Any]]:
    """The rows that a page holds for its scripts."""
    data = data_of(index)
    return [dict(zip(data["fields"], row, strict=True)) for row in data["rows"]]
