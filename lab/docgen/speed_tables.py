"""The costs of the locks alone, and the gain of each way of waiting, as docs/speeds.md quotes them from the reference."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from lab.errors import BadInput, choose_from
from lab.experiments import lock_benchmark_report, measurement, omission_report
from lab.experiments.benchmark import BenchFile, Measured, figure_in_words, interval_in_words, promise_in_words
from lab.paths import REFERENCE
from lab.report.palette import PAPERS
from lab.text import table, thousands

LOCKS = REFERENCE / "locks"
OMISSION = REFERENCE / "omission"
TYPICAL = {
    "redis": "lua",
    "redis_nodes": "redlock",
    "zookeeper": "zookeeper",
    "etcd": "etcd",
}  # the lock of a store that document 4 means


@cache
def benches() -> dict[str, Measured]:
    """Return the figures of the reference's benches, by name."""
    found: dict[str, Measured] = {}
    for path in sorted(LOCKS.glob("bench-*.json")):
        found |= {one.name: one for one in measurement.load(path, BenchFile).figures}
    return found


def _table(*first_words: str) -> str:
    """Return a table of the figures whose names begin with one of the words."""
    rows = []
    for name, one in benches().items():
        if name.split()[0] in first_words:
            cells = (one.what, figure_in_words(one), interval_in_words(one), promise_in_words(one), "yes" if one.held else "no")
            rows.append(cells)
    if not rows:
        raise BadInput(f"the reference has no measurement of {' or '.join(first_words)}")
    return table(["what", "measured", "95 % interval", "target", "met"], rows)


def _ratio(*name: str) -> str:
    """Return one figure as a share."""
    known = benches()
    return f"{known[choose_from('measurement', ' '.join(name), known)].value:.2f}"


def _claimed() -> str:
    """Return document 4's table of speeds, with the cycles a second and the p50 that were measured next to it."""
    situations = {(1, False): "one client", (16, False): "16 clients, a key each", (16, True): "16 clients, one key"}
    rows = []
    kept = lock_benchmark_report.load(LOCKS).measurements
    found = {(one.stage, one.clients, one.one_key): one for one in kept if not one.work_ms}
    for store, claim in lock_benchmark_report.CLAIMED.items():
        stage = TYPICAL[store]
        here = [found[stage, *situation] for situation in situations]
        cells = [f"{thousands(round(one.per_s))} a second, p50 {one.p50_ms:.3g} ms" for one in here]
        rows.append([f"[`{stage}`](ladder/{stage}.md)", str(claim), *cells])
    return table(["lock", "document 4", *situations.values()], rows)


def omission_pictures() -> dict[Path, Callable[[Path], object]]:
    """Return the pictures of both loops, light and dark: the path of each, and the function that draws it into a folder."""

    def draw(folder: Path, name: str) -> Path:
        return omission_report.draw_one(omission_report.load(OMISSION), folder, name)

    return {OMISSION / f"{omission_report.STEM}{name}.svg": partial(draw, name=name) for name in PAPERS}


PARTS = {
    "claimed": _claimed,
    "locks": lambda: lock_benchmark_report.markdown(lock_benchmark_report.load(LOCKS)),
    "benches": _table,
    "ratio": _ratio,
    "omission": lambda: omission_report.markdown(omission_report.load(OMISSION)),
}
