"""What has drifted: documents and pictures that are not what is made now from the shelf and the kept runs.

``python -m tools.book --check`` lists them. Everything is drawn into a temporary folder; nothing that is kept is changed.

Pictures are compared as a reader sees them: other machines round otherwise. A picture that the library did not draw is the same
to the byte.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from tools.book import generate

NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
TEXT = re.compile(r">[^<]+")
AN_ID = re.compile(r'(id="|href="#|url\(#)[^")]*')  # the library makes it of what it draws, to the last digit
WITHIN = 0.5  # points: a reader sees no difference
LIBRARY = "matplotlib"  # its name stands in each picture that it draws


def same_picture(new: Path, old: Path) -> bool:
    """Return whether two SVGs show the same: the same elements and texts in the same order, at the same places."""
    first, second = (path.read_text(encoding="utf-8") for path in (new, old))
    if first == second or LIBRARY not in first or LIBRARY not in second:
        return first == second
    drawn, kept = (AN_ID.sub(r"\1", picture) for picture in (first, second))
    if TEXT.findall(drawn) != TEXT.findall(kept) or NUMBER.split(drawn) != NUMBER.split(kept):
        return False
    places = zip(NUMBER.findall(drawn), NUMBER.findall(kept), strict=True)
    return all(abs(float(one) - float(other)) <= WITHIN for one, other in places)


def drifted() -> Iterator[Path]:
    """Yield each kept document, picture and page that would be written otherwise now, or that is missing.

    Raises BadInput for a part that cannot be made, naming the document.
    """
    for path in generate.documents():
        if generate.filled(path) != path.read_text(encoding="utf-8"):
            yield path
    for path, draw in generate.pictures().items():
        if not is_drawn_so(path, draw):
            yield path


def is_drawn_so(path: Path, draw: Callable[[Path], object]) -> bool:
    """Return whether a kept file shows what is drawn into a folder now."""
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder))
        return _is_same(Path(folder, path.name), path)


def _is_same(made: Path, kept: Path) -> bool:
    if not made.exists() or not kept.exists():
        return False
    if made.suffix == ".svg":
        return same_picture(made, kept)
    return made.read_bytes() == kept.read_bytes()
