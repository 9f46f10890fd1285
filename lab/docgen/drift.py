"""What has drifted: documents and pictures that are not what is made now from the shelf and the kept runs.

``lab docs --check`` lists them. Everything is drawn into a temporary folder; nothing that is kept is changed.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from lab.docgen import generate, matrix_views
from lab.docgen.same_picture import same_picture
from lab.experiments import sweep_report, sweeps
from lab.paths import REFERENCE
from lab.report import pages, repeats

NOT_COMPARED = (".png",)  # drawn together with the SVG of the same name, and rounded by the machine


def drifted() -> Iterator[Path]:
    """Yield each kept document, picture and page that would be written otherwise now, or that is missing.

    Raises BadInput for a part that cannot be made, naming the document.
    """
    for path in generate.documents():
        if generate.filled(path) != path.read_text(encoding="utf-8"):
            yield path
    for path, draw in {**generate.pictures(), **matrix_views.pages()}.items():
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
    if (rounds := REFERENCE / repeats.REPEATS).exists():
        shutil.copy(rounds, folder)
    return pages.report_many(pages.runs_in(REFERENCE), folder)


def _swept(kept: Path, folder: Path) -> list[Path]:
    shutil.copy(kept / "sweep.json", folder)
    return sweep_report.write_again(folder)


def _differing(kept: Path, make: Callable[[Path], list[Path]]) -> Iterator[Path]:
    """Yield what is kept in a folder and differs from what is made now, or is not made any more."""
    with tempfile.TemporaryDirectory() as folder:
        made = {path.name for path in make(Path(folder))}
        for name in sorted(made | {path.name for kind in ("*.svg", "*.png") for path in kept.glob(kind)}):
            if not _is_same(Path(folder, name), kept / name):
                yield kept / name


def _is_same(made: Path, kept: Path) -> bool:
    if not made.exists() or not kept.exists():
        return False
    if made.suffix == ".svg":
        return same_picture(made, kept)
    if made.suffix == ".html":
        return _without_pictures(made) == _without_pictures(kept)
    return made.suffix in NOT_COMPARED or made.read_bytes() == kept.read_bytes()


def _without_pictures(page: Path) -> str:
    return re.sub(r"<svg.*?</svg>", "<svg/>", page.read_text(encoding="utf-8"), flags=re.DOTALL)
