"""The lock benchmark as a table and a chart, compared with the speeds that document 4 claims."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from app.locks import stages
from lab.experiments import measurement
from lab.experiments.lock_benchmark import LockMeasurement
from lab.experiments.measurement import Measurement, made_now
from lab.paths import REFERENCE
from lab.report.chart import BLUE, ORANGE, PURPLE, title, title_width
from lab.report.chart import write as write_chart
from lab.text import table, thousands

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ClaimedSpeed(msgspec.Struct, frozen=True):
    """The speed that document 4 claims for locks of a store. It does not state its machine, clients
    or number of keys.
    """

    per_s: int
    latency: str

    def __str__(self) -> str:
        return f"{thousands(self.per_s)} a second, {self.latency}"


KEPT = REFERENCE / "locks"
TYPICAL = {"redis": "lua", "redis_nodes": "redlock", "zookeeper": "zookeeper", "etcd": "etcd"}  # the locks that document 4 means
CLAIMED = {
    "redis": ClaimedSpeed(100_000, "under 1 ms"),
    "redis_nodes": ClaimedSpeed(10_000, "5 to 10 ms"),
    "zookeeper": ClaimedSpeed(1000, "10 to 50 ms"),
    "etcd": ClaimedSpeed(5000, "5 to 20 ms"),
}
COLUMNS = (
    "lock",
    "store",
    "servers",
    "clients",
    "key",
    "work, ms",
    "cycles a second",
    "p50, ms",
    "p99, ms",
    "longest wait, ms",
    "grants that jumped the queue",
    "commands a cycle",
    "claimed",
)


class LockBenchmark(Measurement[LockMeasurement], kw_only=True):
    """``locks.json``: the medians of the measurements so far, and the machine and versions."""

    for_s: float  # how long each measurement lasted


def write(found: Sequence[LockMeasurement], for_s: float, into: Path) -> list[Path]:
    """Write ``locks.json``, ``locks.md`` and ``locks.svg``. Return the paths."""
    all_of_them = made_now(LockBenchmark, for_s=for_s, points=list(found))
    return [*measurement.save(all_of_them, into / "locks.json", markdown(all_of_them)), draw(found, into)]


def load(folder: Path = KEPT) -> LockBenchmark:
    """Return the benchmark in a folder; by default that of the reference."""
    return measurement.load(folder / "locks.json", LockBenchmark)


def conditions(about: LockBenchmark) -> str:
    """Return how it was measured, in one sentence."""
    programs = ("redis-server", "mariadbd", "etcd", "zookeeper")
    known = ", ".join(_version(about.versions[name]) for name in programs if about.versions.get(name))
    return (
        f"Measured {about.day}, {about.for_s:g} s each, the median of three rounds, on {about.cores} "
        f"shared by servers and clients, Python {about.versions['python']}; {known}."
    )


def _version(output: str) -> str:
    """Return a version line in short, such as ``Redis server v=7.0.15 sha=…`` or
    ``/usr/sbin/mariadbd Ver 10.11.19-MariaDB-0 for …``.
    """
    words = output.rpartition("/")[2].split(" for ")[0].partition(" sha")[0].split()
    return " ".join(words).removesuffix(".jar")


def markdown(about: LockBenchmark) -> str:
    """Return the conditions, and a line for each measurement."""
    rows: list[Sequence[str]] = []
    for one in about.points:
        claimed = str(CLAIMED.get(one.store or "", "")) if one.clients == 1 and one.stage in stages() else ""
        key = "one" if one.one_key else "its own"
        figures = (one.per_s, one.p50_ms, one.p99_ms, one.longest_wait_ms, one.overtaken, one.commands)
        name = f"`{one.stage}`" if one.stage in stages() else f"*{one.stage}*"
        texts = (thousands(figure) if figure >= 100 else f"{figure:.3g}" for figure in figures)
        rows.append([name, f"`{one.store}`", str(one.servers), str(one.clients), key, f"{one.work_ms}", *texts, claimed])
    return f"{conditions(about)}\n\n{table(COLUMNS, rows)}"


def draw(found: Sequence[LockMeasurement], into: Path) -> Path:
    """Draw cycles a second, alone and with many clients on one key, the fastest first, with the claimed speeds.

    A dot is the median of the rounds, and the line through it reaches from the slowest round to the fastest.
    """
    alone = {one.stage: one for one in found if one.clients == 1}
    names = sorted(alone, key=lambda name: -alone[name].per_s)
    together = {one.stage: one for one in found if one.clients > 1 and one.one_key and not one.work_ms}
    claims = {name: CLAIMED[alone[name].store or ""] for name in names if alone[name].store in CLAIMED and name in stages()}
    rows = ((alone, BLUE, "one client, a key of its own"), (together, ORANGE, "sixteen clients, all on one key"))

    def drawn() -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9.6, 2.2 + 0.42 * len(names)), layout="constrained")
        axes = figure.add_subplot()
        for offset, (measured, colour, label) in enumerate(rows):
            of = {names.index(name) + 0.3 * offset - 0.15: one for name, one in measured.items()}
            axes.plot([one.per_s for one in of.values()], list(of), "o", color=colour, markersize=6, label=label)
            least, most = zip(*((one.least_per_s, one.most_per_s) for one in of.values()), strict=True)
            axes.hlines(list(of), least, most, color=colour, linewidth=2)
        places = [names.index(name) for name in claims]
        axes.plot([one.per_s for one in claims.values()], places, "D", color=PURPLE, markersize=5, label="claimed by document 4")
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.set_xscale("log")
        axes.set_xlabel("acquire and release, a second (logarithmic; the median of three rounds, and their range)")
        axes.legend(loc="upper center", bbox_to_anchor=(0.4, -0.05), ncols=3)
        about = "a cycle is acquire and release; clients are processes of this machine"
        title(axes, _finding(alone), about, title_width(names))
        return figure

    return write_chart(drawn, into / "locks.svg")


def _finding(alone: dict[str, LockMeasurement]) -> str:
    locks = {name: one.per_s for name, one in alone.items() if name in stages()}
    fastest, slowest = max(locks, key=lambda name: locks[name]), min(locks, key=lambda name: locks[name])
    return f"One client alone: {fastest} is {locks[fastest] / locks[slowest]:.0f} times as fast as {slowest}"


def _claimed() -> str:
    """Return document 4's table of speeds, with the cycles a second and the p50 that were measured next to it."""
    situations = {(1, False): "one client", (16, False): "16 clients, a key each", (16, True): "16 clients, one key"}
    rows = []
    found = {(one.stage, one.clients, one.one_key): one for one in load().points if not one.work_ms}
    for store, claim in CLAIMED.items():
        stage = TYPICAL[store]
        here = [found[stage, *situation] for situation in situations]
        cells = [f"{thousands(round(one.per_s))} a second, p50 {one.p50_ms:.3g} ms" for one in here]
        rows.append([f"[`{stage}`](ladder/{stage}.md)", str(claim), *cells])
    return table(["lock", "document 4", *situations.values()], rows)


DOCUMENT_PARTS: dict[str, Callable[..., str]] = {"claimed": _claimed, "locks": lambda: markdown(load())}
