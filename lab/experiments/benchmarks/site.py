"""The cost of writing the site at the end of a run: with a thousand runs compared with ten, and
with reading all runs again.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from lab.experiments.benchmark import Measured, Promise, Unmeasured, pairwise, ratio
from lab.paths import REFERENCE
from lab.report import site
from lab.report.pages import runs_in
from lab.report.run_index import ROWS

FEW, MANY = 10, 1000
MOST_GROWTH, MOST_OF_ALL = 5.0, 0.25


def measure(pairs: int) -> Iterator[Measured]:
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as folder:
        few, many = (_made(Path(folder) / str(number), number) for number in (FEW, MANY))
        site.write(few)
        site.write(many)
        growth = [one / other for one, other in pairwise(pairs, _after_a_run(many), _after_a_run(few))]
        anew = [one / other for one, other in pairwise(min(pairs, 4), _after_a_run(many), _anew(many))]
    what = f"writing the site after a run, with {MANY} runs compared with {FEW}"
    yield ratio("site", what, Promise(at_most=MOST_GROWTH), growth)
    yield ratio(
        "site", f"the same, with {MANY} runs, compared with reading all of them again", Promise(at_most=MOST_OF_ALL), anew
    )


def _made(reports: Path, number: int) -> Path:
    for place in range(number):
        _add(reports, f"{place:05}")
    return reports


def _add(reports: Path, mark: str) -> None:
    """Add a run: a copy of a reference run with a name of its own."""
    kept = runs_in(REFERENCE)
    one = kept[int(mark, 36) % len(kept)]
    folder = reports / "runs" / f"{one.name}-{mark}"
    folder.mkdir(parents=True)
    for path in one.iterdir():
        (folder / path.name).write_bytes(path.read_bytes().replace(one.name.encode(), folder.name.encode()))


def _after_a_run(reports: Path) -> Callable[[], float]:
    def once() -> float:
        before = len(list((reports / "runs").iterdir()))
        _add(reports, f"{before:05}")
        return _written(reports)

    return once


def _anew(reports: Path) -> Callable[[], float]:
    def once() -> float:
        (reports / ROWS).unlink()
        return _written(reports)

    return once


def _written(reports: Path) -> float:
    """Return the seconds that writing takes. Raises Unmeasured when a run is missing from the site."""
    began_s = time.monotonic()
    index = site.write(reports)
    took_s = time.monotonic() - began_s
    text = index.read_text(encoding="utf-8")
    if missing := [path.name for path in (reports / "runs").iterdir() if path.name not in text]:
        raise Unmeasured(f"{len(missing)} runs are not in the site, {missing[0]} among them")
    return took_s
