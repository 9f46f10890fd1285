"""What has drifted: documents and pictures that are not what is made now from the shelf and the kept runs.

``lab docs --check`` lists them. Everything is drawn into a temporary folder; nothing that is kept is changed.

Pictures are compared as a reader sees them: other machines have other fonts and round otherwise. A picture that the library did
not draw is the same to the byte.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from lab.docgen import generate
from lab.experiments import sweep_report, sweeps
from lab.experiments.sweep import load_result
from lab.paths import REFERENCE
from lab.report import comparison, run_data

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d*\.?\d+(?:e-?\d+)?")
TICK = re.compile(r"[−-]?[\d.,\s]+")  # the library chooses at which numbers an axis has ticks
WITHIN = 0.01  # of the width and the height of the axes
LIBRARY = b"matplotlib"  # its name stands in each picture that it draws


@dataclass(frozen=True)
class DrawnShape:
    """A line, an area or a marker.

    colours: of its fill and its stroke. box: left, right, top and bottom, as parts of the axes. corners: how many it has.
    """

    colours: tuple[str, ...]
    box: tuple[float, ...]
    corners: int


def texts(picture: Path) -> list[str]:
    """Return all texts in the order in which they are drawn, without the numbers at the ticks."""
    found = ["".join(one.itertext()).strip() for one in _root(picture).iter(f"{SVG}text")]
    return [text for text in found if not TICK.fullmatch(text)]


def shapes(picture: Path) -> list[DrawnShape]:
    """Return what is drawn on the axes, in order; the axes themselves are left out."""
    return [shape for axes in _groups(_root(picture), "axes_") for shape in _on(axes)]


def same_picture(new: Path, old: Path) -> bool:
    """Return whether two SVGs show the same: the same texts, and the same shapes within one part in a hundred of the axes."""
    first, second = new.read_bytes(), old.read_bytes()
    if first == second or LIBRARY not in first or LIBRARY not in second:
        return first == second
    if sorted(texts(new)) != sorted(texts(old)):
        return False
    drawn, kept = shapes(new), shapes(old)
    if [(one.colours, one.corners) for one in drawn] != [(one.colours, one.corners) for one in kept]:
        return False
    return all(_near_box(one.box, other.box) for one, other in zip(drawn, kept, strict=True))


def _near_box(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return all(abs(place - kept) <= WITHIN for place, kept in zip(one, other, strict=True))


def _root(picture: Path) -> ET.Element:
    return ET.fromstring(picture.read_text(encoding="utf-8"))  # noqa: S314 - the lab's own picture


def _groups(parent: ET.Element, name: str) -> list[ET.Element]:
    return [group for group in parent.iter(f"{SVG}g") if group.get("id", "").startswith(name)]


def _on(axes: ET.Element) -> Iterator[DrawnShape]:
    """Yield what one axes holds. Its first patch is the background, and says where the axes are."""
    background, *drawn = [group for group in axes if not group.get("id", "").startswith("matplotlib.axis")]
    left, top, right, bottom = _box(_numbers(next(background.iter(f"{SVG}path"))))
    for group in drawn:
        if group.get("id", "").startswith("text"):
            continue
        for element in [*group.iter(f"{SVG}path"), *group.iter(f"{SVG}use")]:
            numbers = _numbers(element)
            if not numbers:  # nothing of it is in sight
                continue
            x0, y0, x1, y1 = _box(numbers)
            across = [_near((x - left) / (right - left)) for x in (x0, x1)]
            down = [_near((y - top) / (bottom - top)) for y in (y0, y1)]
            yield DrawnShape(_colours(element), (*across, *down), len(numbers) // 2)


def _near(part: float) -> float:
    """Return a place within or near the axes. What lies far outside is not seen: how far does not matter."""
    return min(2.0, max(-1.0, part))


def _numbers(element: ET.Element) -> list[float]:
    if element.tag == f"{SVG}use":
        return [float(element.get("x", "0")), float(element.get("y", "0"))]
    return [float(number) for number in NUMBER.findall(element.get("d", ""))]


def _box(numbers: list[float]) -> tuple[float, float, float, float]:
    across, down = numbers[::2], numbers[1::2]
    return min(across), min(down), max(across), max(down)


def _colours(element: ET.Element) -> tuple[str, ...]:
    style = dict(part.split(":", 1) for part in element.get("style", "").split(";") if ":" in part)
    return tuple(
        value.strip()
        for name, value in sorted((key.strip(), value) for key, value in style.items())
        if name in ("fill", "stroke")
    )


def drifted() -> Iterator[Path]:
    """Yield each kept document, picture and page that would be written otherwise now, or that is missing.

    Raises BadInput for a part that cannot be made, naming the document.
    """
    for path in generate.documents():
        if generate.filled(path) != path.read_text(encoding="utf-8"):
            yield path
    for path, draw in {**generate.pictures(), **generate.kept_pages()}.items():
        if not is_drawn_so(path, draw):
            yield path
    yield from _differing(REFERENCE, _ladder)
    for name in sweeps.names():
        kept = REFERENCE / f"sweep-{name}"
        yield from _differing(kept, lambda folder, kept=kept: _swept(kept, folder))  # type: ignore[misc]


def is_drawn_so(path: Path, draw: Callable[[Path], object]) -> bool:
    """Return whether a kept file shows what is drawn into a folder now."""
    with tempfile.TemporaryDirectory() as folder:
        draw(Path(folder))
        return _is_same(Path(folder, path.name), path)


def _ladder(folder: Path) -> list[Path]:
    if (rounds := REFERENCE / run_data.ROUNDS).exists():
        shutil.copy(rounds, folder)
    return comparison.report_many(comparison.runs_in(REFERENCE), folder, home=REFERENCE)


def _swept(kept: Path, folder: Path) -> list[Path]:
    result = load_result(kept)
    return sweep_report.write(sweeps.load(result.sweep), result, folder)


def _differing(kept: Path, make: Callable[[Path], list[Path]]) -> Iterator[Path]:
    """Yield what is kept in a folder and differs from what is made now, or is not made any more."""
    with tempfile.TemporaryDirectory() as folder:
        made = {path.name for path in make(Path(folder))}
        for name in sorted(made | {path.name for path in kept.glob("*.svg")}):
            if not _is_same(Path(folder, name), kept / name):
                yield kept / name


def _is_same(made: Path, kept: Path) -> bool:
    if not made.exists() or not kept.exists():
        return False
    if made.suffix == ".svg":
        return same_picture(made, kept)
    if made.suffix == ".html":
        return _without_pictures(made) == _without_pictures(kept)
    return made.read_bytes() == kept.read_bytes()


def _without_pictures(page: Path) -> str:
    return re.sub(r"<svg.*?</svg>", "<svg/>", page.read_text(encoding="utf-8"), flags=re.DOTALL)
