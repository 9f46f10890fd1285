"""How much longer than the TTL may the work take?

The share of the acknowledged increments that is lost, as the work grows beyond the TTL.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.experiments.sweep import KEPT_PER_S, LOST_SHARE, Curve, Sweep, SweepResult, draw_curves, found_by_stage, per_cent
from lab.language import Language
from lab.report.chart import GREY
from lab.story.say import ENGLISH, text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TTL_MS = 200
FINE = 400  # points of the drawn staircase


def finding(curves: Sequence[Curve], language: Language = ENGLISH) -> str:
    """Return, for each stage, up to where it loses nothing, from where on it does, and its largest loss."""
    return found_by_stage(curves, _of, language)


def _of(curve: Curve, language: Language) -> str:
    known = curve.known(LOST_SHARE)
    if not known:
        return ""
    losers = [value for value, share in known if share.value > 0]
    sound = text("sweep", "where_sound", language) if any(spot.unsound for spot in curve.spots) else ""
    if not losers:
        return text("sweep", "loses_nothing", language, stage=curve.stage, ttls=f"{known[-1][0]:g}", sound=sound)
    worst_at, worst = max(known, key=lambda one: one[1].value)
    safe = [value for value, _ in known if value < losers[0]]
    before = text("sweep", "first_nothing", language, ttls=f"{safe[-1]:g}") if safe else ""
    places = {"before": before, "share": per_cent(worst.value), "ttls": f"{worst_at:g}", "sound": sound}
    return text("sweep", "loses", language, 1, stage=curve.stage, **places)


def draw(canvas: Figure, result: SweepResult, curves: Sequence[Curve]) -> None:
    """Draw the lost share over work / TTL, with the prediction for a waiter that is always ready."""
    axes = canvas.subplots()
    right = max(result.values) * 1.04
    fine = [right * number / FINE for number in range(1, FINE + 1)]
    always = "expected where each lease is followed by the next at once: 1 − 1/⌈work/TTL⌉"
    axes.plot(fine, [1 - 1 / math.ceil(x) for x in fine], color=GREY, linestyle="--", linewidth=1.4, label=always)
    axes.axvline(1, color=GREY, linestyle=":", linewidth=1.4)
    draw_curves(axes, curves, LOST_SHARE)
    axes.set_xlim(0, right)
    axes.set_ylim(-0.02, None)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlabel(f"{SWEEP.varied} (TTL {TTL_MS} ms)")
    axes.set_ylabel("acknowledged increments lost")
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2)


SWEEP = Sweep(
    title="How much longer than the TTL may the work take?",
    varied="work time / TTL",
    values=(0.25, 0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 2.25),
    stages=("lua",),
    repeats=3,
    settings=lambda value: {"ttl_ms": TTL_MS, "work_ms": round(value * TTL_MS), "users": 10, "retry_ms": 5},
    scenario="work_outlasts_ttl",
    requests=30,
    danger={"handovers_between_replicas": 5},
    needs=("ttl", "exclusion"),
    figures={LOST_SHARE: "share of the acknowledged lost", KEPT_PER_S: "kept a second"},
    expected_s=lambda value, requests: requests * min(value, 1) * TTL_MS / 1000 + value * TTL_MS / 1000,
    finding=finding,
    draw=draw,
    height_in=5.0,
)
