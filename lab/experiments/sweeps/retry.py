"""How often should a waiter ask?

Polling harder costs commands, and the store's time for them is missing for the holder.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.experiments.sweep import KEPT_PER_S, Curve, Sweep, SweepResult, band, draw_curves, found_by_stage, per_cent, whole
from lab.language import Language
from lab.report.chart import LINES, STYLES
from lab.story.say import ENGLISH, text
from lab.text import thousands

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

UNHINDERED_PER_S, HINDERED_BELOW_MS = 530, 20  # to estimate the duration: below this interval, polling slows the holders down
WAITS = {"wait_p50_ms": "p50", "wait_p99_ms": "p99", "wait_max_ms": "max"}


def finding(curves: Sequence[Curve], language: Language = ENGLISH) -> str:
    """Return, for each stage, how much throughput the shortest interval costs against the best, and how many commands."""
    return found_by_stage(curves, _of, language)


def _of(curve: Curve, language: Language) -> str:
    rates, commands = curve.known(KEPT_PER_S), dict(curve.known("commands_per_increment"))
    if not rates:
        return ""
    (shortest, there), (best, fastest) = rates[0], max(rates, key=lambda rate: rate[1].value)
    places: dict[str, object] = {"stage": curve.stage, "price": f"{commands[shortest].value:.0f}", "shortest": f"{shortest:g}"}
    if len(rates) == 1:
        return text("sweep", "one_interval", language, 1, **places, speed=thousands(there.value))
    if best == shortest:
        longest, _ = rates[-1]
        return text("sweep", "fastest", language, 1, **places, less=f"{commands[longest].value:.0f}", longest=f"{longest:g}")
    form = "as_fast" if there.overlaps(fastest) else "slower"
    places |= {"less": f"{commands[best].value:.0f}", "best": f"{best:g}", "share": per_cent(1 - there.value / fastest.value)}
    return text("sweep", form, language, 1, **places)


def draw(canvas: Figure, result: SweepResult, curves: Sequence[Curve]) -> None:
    """Draw speed, waits and commands over the same retry interval, in three panels."""
    speed, waits, commands = canvas.subplots(3, 1, sharex=True)
    draw_curves(speed, curves, KEPT_PER_S)
    for number, curve in enumerate(curves):
        for style, (figure, rank) in zip(STYLES, WAITS.items(), strict=True):
            band(waits, curve, figure, LINES[number % len(LINES)], label=f"{curve.stage}, {rank}", style=style)
    draw_curves(commands, curves, "commands_per_increment")
    speed.set_ylabel("increments kept\na second")
    speed.set_ylim(bottom=0)
    waits.set_ylabel("wait for the lock, ms")
    if any(curve.known("wait_max_ms") for curve in curves):  # an empty panel has no logarithmic scale
        waits.set_yscale("log")
        waits.yaxis.set_major_formatter(lambda wait, _: f"{wait:g}")
    commands.set_ylabel("commands to the lock's\nstore per increment")
    commands.set_ylim(bottom=0)
    commands.set_xlabel(SWEEP.varied + " (logarithmic)")
    for axes in (speed, waits, commands):
        _finish(axes, result)


def _finish(axes: Axes, result: SweepResult) -> None:
    axes.set_xscale("log")
    axes.set_xticks(result.values, [f"{value:g}" for value in result.values])
    axes.minorticks_off()
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))


SWEEP = Sweep(
    title="How often should a waiter ask?",
    varied="time between a waiter's tries, ms",
    values=(1, 2, 5, 10, 20, 50, 100),
    stages=("lua",),
    repeats=4,
    settings=lambda value: {"retry_ms": whole(value)},
    scenario="rush",
    requests=1000,
    danger={"handovers_between_replicas": 100},
    needs=("exclusion",),
    figures={
        KEPT_PER_S: "kept a second",
        "wait_p50_ms": "wait p50, ms",
        "wait_p99_ms": "wait p99, ms",
        "wait_max_ms": "longest wait, ms",
        "commands_per_increment": "commands per increment",
    },
    expected_s=lambda value, requests: requests / UNHINDERED_PER_S / min(1, math.sqrt(value / HINDERED_BELOW_MS)),
    finding=finding,
    draw=draw,
    height_in=9.2,
)
