"""How long do the others wait after a crash?

The longest wait for the lock of a dead holder, as the TTL grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.experiments.sweep import Curve, Sweep, SweepResult, draw_curves, whole
from lab.language import Language
from lab.report.chart import GREY
from lab.story.say import ENGLISH, text, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WAIT = "wait_max_ms"


def finding(curves: Sequence[Curve], language: Language = ENGLISH) -> str:
    """Return how much longer than the TTL the others wait after a crash, for each stage over all TTLs."""
    known = [said for curve in curves if (said := _of(curve, language))]
    each = str(words(language)["mark"]["comma"]).join(known)
    return text("sweep", "takeover", language, each=each) if known else text("sweep", "nothing", language)


def _of(curve: Curve, language: Language) -> str:
    more = [round(wait.value - ttl_ms) for ttl_ms, wait in curve.known(WAIT)]
    return text("sweep", "longer", language, len(more), stage=curve.stage, least=min(more), most=max(more)) if more else ""


def draw(canvas: Figure, result: SweepResult, curves: Sequence[Curve]) -> None:
    """Draw the longest wait over the TTL, with the line on which both are equal."""
    axes = canvas.subplots()
    right = max(result.values) * 1.06
    axes.plot([0, right], [0, right], color=GREY, linestyle="--", linewidth=1.4, label="the TTL itself")
    draw_curves(axes, curves, WAIT)
    axes.set_xlim(0, right)
    axes.set_ylim(bottom=0)
    axes.set_xlabel(SWEEP.varied)
    axes.set_ylabel("longest wait after\nthe crash, ms")
    axes.legend(loc="upper left")


SWEEP = Sweep(
    title="How long do the others wait after a crash?",
    varied="TTL, ms",
    values=(300, 500, 1000, 2000, 4000),
    stages=("lua", "watchdog"),
    repeats=3,
    settings=lambda value: {"ttl_ms": whole(value), "wait_ms": whole(2 * value + 2000), "users": 4, "retry_ms": 10},
    scenario="holder_crash",
    requests=24,
    danger={"faults": 1},
    needs=("ttl", "exclusion"),
    figures={WAIT: "longest wait, ms"},
    expected_s=lambda value, requests: requests * 0.02 + value / 1000,
    finding=finding,
    draw=draw,
    height_in=4.2,
)
