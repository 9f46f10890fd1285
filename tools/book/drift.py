"""What has drifted: documents and pictures that are not what is made now from the shelf and the kept runs.

``python -m tools.book`` writes them, and ``--check`` lists them. Pictures are compared as a reader sees them: other machines
round otherwise. A picture that the library did not draw is the same to the byte.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tools.book import generate

NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
TEXT = re.compile(r">[^<]+")
AN_ID = re.compile(r'(id="|href="#|url\(#)[^")]*')  # the library makes it of what it draws, to the last digit
WITHIN = 0.5  # points: a reader sees no difference
LIBRARY = "matplotlib"  # its name stands in each picture that it draws


def same_picture(first: str, second: str) -> bool:
    """Return whether two SVGs show the same: the same elements and texts in the same order, at the same places."""
    if first == second or LIBRARY not in first or LIBRARY not in second:
        return first == second
    drawn, kept = (AN_ID.sub(r"\1", picture) for picture in (first, second))
    if TEXT.findall(drawn) != TEXT.findall(kept) or NUMBER.split(drawn) != NUMBER.split(kept):
        return False
    places = zip(NUMBER.findall(drawn), NUMBER.findall(kept), strict=True)
    return all(abs(float(one) - float(other)) <= WITHIN for one, other in places)


def drifted() -> Iterator[tuple[Path, str]]:
    """Yield each document and picture that differs from what is made now, or is missing, with its new text.

    Raises BadInput for a part that cannot be made, naming the document.
    """
    for path, draw in generate.pictures().items():
        with tempfile.TemporaryDirectory() as folder:
            draw(Path(folder))
            new = Path(folder, path.name).read_text(encoding="utf-8")
        if not path.exists() or not same_picture(new, path.read_text(encoding="utf-8")):
            yield path, new
    for path in generate.documents():
        if (new := generate.filled(path)) != path.read_text(encoding="utf-8"):
            yield path, new
