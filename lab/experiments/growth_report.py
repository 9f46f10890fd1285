"""The growth of a run's costs as tables, and the plan for more users than one machine can serve."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from lab.errors import choose_from
from lab.experiments import measurement
from lab.experiments.growth import FILE, MIB, PARTS, Growth, GrowthPoint
from lab.paths import REFERENCE
from lab.text import table, table_rows, thousands

KEPT = REFERENCE / "growth"


@cache
def kept() -> Growth:
    """Return the reference measurement."""
    return measurement.load(KEPT / FILE, Growth)


def points(varied: str) -> list[GrowthPoint]:
    """Return the points of a series. Raises BadInput."""
    found = kept().points
    choose_from("series", varied, list(dict.fromkeys(one.varied for one in found)))
    return [one for one in found if one.varied == varied]


def _costs(varied: str) -> str:
    """Return a table with a line for each point: speed, memory by part, size on disk, time to judge and to draw."""

    def cells(one: GrowthPoint) -> Iterable[str]:
        memory = (f"{one.peak_mib.get(part, 0):.0f}" for part in PARTS)
        ends = (f"{one.judging_s:.1f} / {one.judging_mib:.0f}", f"{one.drawing_s:.1f} / {one.drawing_mib:.0f}")
        return (f"{one.per_s:.0f}", *memory, f"{one.folder_mib:.1f}", *ends)

    heads = ("kept a second", *(f"{part}, MiB" for part in PARTS), "folder, MiB", "judged, s / MiB", "drawn, s / MiB")
    return _table(varied, heads, cells)


def _processor(varied: str) -> str:
    """Return a table with a line for each point: milliseconds of one core for each request, by part."""

    def cells(one: GrowthPoint) -> Iterable[str]:
        used = [one.cpu_ms.get(part, 0) for part in PARTS]
        return (f"{ms:.3f}" for ms in (*used, sum(one.cpu_ms.values())))

    return _table(varied, (*PARTS, "all"), cells)


def _table(varied: str, heads: Iterable[str], cells: Callable[[GrowthPoint], Iterable[str]]) -> str:
    """Return a table with a line for each point of a series: its value, and these cells."""
    names = {one.value: f"`{one.stage}`" if varied == "store" else thousands(one.value) for one in points(varied)}
    return table((varied, *heads), [(names[one.value], *cells(one)) for one in points(varied)])


def saturation(part: str, stage: str = "incr") -> float:
    """Return the requests a second at which this part fills one core, by the longest run of the plain series."""
    choose_from("part", part, PARTS)
    found = [one for one in kept().points if one.stage == stage and one.varied in ("requests", "store") and part in one.cpu_ms]
    of = max(found, key=lambda one: one.requests)
    return 1000 / of.cpu_ms[part]


def _rounded(per_s: float) -> str:
    """Return a number with two significant digits."""
    digits = len(str(int(per_s))) - 2
    return thousands(round(per_s, -digits))


def _plan(per_s: str) -> str:
    """Return for each part what fills a core, and how many cores so many requests a second take.

    The line of the lock's store is that of `lua`.
    """
    lines = []
    for part in PARTS[:-1]:
        full = saturation(part, "lua" if part == "lock's store" else "incr")
        which = f"{part} (`lua`, waiters polling)" if part == "lock's store" else part
        lines.append((which, _rounded(full), f"{int(per_s) / full:.1f}"))
    return table_rows(lines)


def _stores() -> str:
    """Return for each store the speed of its lock, and what fills a core of the store and of the replicas."""
    lines = []
    for one in sorted(points("store"), key=lambda one: -one.per_s):
        parts = (part if part in one.cpu_ms else "counter's store" for part in ("lock's store", "replicas"))
        full = (_rounded(saturation(part, one.stage)) for part in parts)
        lines.append((f"`{one.stage}`", str(one.lock_servers), f"{one.per_s:.0f}", *full))
    return table_rows(lines)


# what one more of a series costs: the series, the factor, and the figure
SLOPES: dict[str, tuple[str, float, Callable[[GrowthPoint], float]]] = {
    "folder_bytes": ("requests", 1 / MIB, lambda one: one.folder_mib),
    "judging_bytes": ("requests", 1 / MIB, lambda one: one.judging_mib),
    "judging_us": ("requests", 1e-6, lambda one: one.judging_s),
    "user_kib": ("users", 1 / 1024, lambda one: one.peak_mib["locust"]),
    "replica_mib": ("replicas", 1, lambda one: one.peak_mib["replicas"]),
}


def slope(name: str) -> float:
    """Return the cost of one more, from a series' first point to its last."""
    varied, unit, figure = SLOPES[choose_from("slope", name, SLOPES)]
    first, *_, last = points(varied)
    return (figure(last) - figure(first)) / (last.value - first.value) / unit


def _each(name: str, times: str = "1") -> str:
    """Return the slope for ``times`` more, as in ``growth_each user_kib``."""
    return thousands(slope(name) * float(times))


def _conditions() -> str:
    about = kept()
    machine = f"{about.cores}, {about.machine['memory_gib']} GiB"
    return f"Measured {about.day} on {machine}, servers and load together, Python {about.versions['python']}.\n"


DOCUMENT_PARTS: dict[str, Callable[..., str]] = {
    "growth_plan": _plan,
    "growth_stores": _stores,
    "growth_each": _each,
    "growth_conditions": _conditions,
    "growth": _costs,
    "growth_processor": _processor,
}
