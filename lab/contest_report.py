"""Contests to a table and a chart, beside what one of the documents says of such systems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from matplotlib import style
from matplotlib.figure import Figure

from app.locks import stages
from lab.chart import BLUE, ORANGE, STYLE, title
from lab.contest import Contest
from lab.run import save

CLAIMED = {  # document 4's table, by the store it speaks of; its conditions are not stated
    "redis": "100 000 a second, under 1 ms",
    "redis_nodes": "10 000 a second, 5 to 10 ms",
    "zookeeper": "1000 a second, 10 to 50 ms",
    "etcd": "5000 a second, 5 to 20 ms",
}
COLUMNS = ("stage", "clients", "key", "work", "a second", "p50", "p99", "longest wait", "overtaken by", "commands", "claimed")


def write(found: Sequence[Contest], into: Path) -> list[Path]:
    """``locks.json``, ``locks.md``, ``locks.svg`` and ``locks.png``; returns the paths."""
    into.mkdir(parents=True, exist_ok=True)
    save(into / "locks.json", list(found))
    (into / "locks.md").write_text(markdown(found), encoding="utf-8")
    return [into / "locks.json", into / "locks.md", *draw(found, into)]


def markdown(found: Sequence[Contest]) -> str:
    """A line a contest. Times in milliseconds."""
    lines: list[Sequence[str]] = [COLUMNS, ["---"] * len(COLUMNS)]
    for one in found:
        claimed = CLAIMED.get(stages()[one.stage].store or "", "") if one.stage in stages() and one.clients == 1 else ""
        key = "one" if one.one_key else "its own"
        figures = (one.per_s, one.p50_ms, one.p99_ms, one.longest_wait_ms, one.overtaken, one.commands)
        lines.append([f"`{one.stage}`", str(one.clients), key, f"{one.work_ms}", *(f"{figure:g}" for figure in figures), claimed])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def draw(found: Sequence[Contest], into: Path) -> list[Path]:
    """Cycles a second, alone and with many on one key, by stage."""
    names = list(dict.fromkeys(one.stage for one in found))
    alone = {one.stage: one.per_s for one in found if one.clients == 1}
    together = {one.stage: one.per_s for one in found if one.clients > 1 and one.one_key and not one.work_ms}
    with style.context(STYLE):
        figure = Figure(figsize=(9.6, 1.9 + 0.42 * len(names)), layout="constrained")
        axes = figure.add_subplot()
        for offset, (figures, colour, label) in enumerate(
            ((alone, BLUE, "one client"), (together, ORANGE, "sixteen on one key")), start=0
        ):
            places = [number + 0.4 * offset - 0.2 for number in range(len(names))]
            axes.barh(places, [figures.get(name, 0) for name in names], height=0.36, color=colour, label=label)
        axes.set_yticks(range(len(names)), names)
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel("acquire and release, a second (logarithmic)")
        axes.legend(loc="lower right")
        fastest = max(alone, key=lambda name: alone[name])
        slowest = min(alone, key=lambda name: alone[name])
        finding = f"Alone, {fastest} makes {alone[fastest]:.0f} cycles a second and {slowest} {alone[slowest]:.0f}"
        title(axes, finding, "clients are processes of this machine; a cycle is acquire and release")
        paths = [into / f"locks.{kind}" for kind in ("svg", "png")]
        for path in paths:
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    return paths
