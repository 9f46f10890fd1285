"""How long may a holder be stopped?

The share of runs in which it lost its lock, as the pause grows beyond the TTL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lab.experiments.omission import FROZEN_SECOND
from lab.experiments.sweep import LOST_LOCK, LOST_SHARE, Curve, Sweep, SweepResult, draw_curves, per_cent
from lab.language import Language
from lab.report.chart import GREY
from lab.story.say import ENGLISH, text, words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PAUSE_MS = 900  # of the scenario's fault
APART = 0.03  # the stages at one value; no line joins the values, because nothing was measured between them


def finding(curves: Sequence[Curve], language: Language = ENGLISH) -> str:
    """Return up to which pause a stopped holder kept its lock, and from which on it lost it. Stages with one answer are one."""
    stages: dict[str, list[str]] = {}
    for curve in curves:
        if said := _of(curve, language):
            stages.setdefault(said, []).append(curve.stage)
    mark = words(language)["mark"]
    found = [text("run", "title", language, stage=mark["names_comma"].join(names), what=said) for said, names in stages.items()]
    return mark["part"].join(found) or text("sweep", "nothing", language)


def _of(curve: Curve, language: Language) -> str:
    known = curve.known(LOST_LOCK)
    losers = [(value, share.value) for value, share in known if share.value > 0]
    safe = [value for value, share in known if share.value == 0 and (not losers or value < losers[0][0])]
    found = [text("sweep", "no_lock_lost", language, ttls=f"{safe[-1]:g}")] if safe else []
    if losers:
        found.append(text("sweep", "locks_lost", language, ttls=f"{losers[0][0]:g}", share=per_cent(losers[0][1])))
    return str(words(language)["mark"]["then"]).join(found)


def draw(canvas: Figure, result: SweepResult, curves: Sequence[Curve]) -> None:
    """Draw the share of runs in which the stopped holder lost its lock."""
    axes = canvas.subplots()
    axes.axvline(1, color=GREY, linestyle=":", linewidth=1.4, label="the pause is as long as the TTL")
    draw_curves(axes, curves, LOST_LOCK, style="none", apart=APART)
    axes.set_xlim(0, max(result.values) * 1.04)
    axes.set_ylim(-0.04, 1.04)
    axes.yaxis.set_major_formatter(lambda share, _: f"{share:.0%}")
    axes.set_xlabel(f"{SWEEP.varied} (pause {PAUSE_MS} ms)")
    axes.set_ylabel("runs in which another request\ngot the lock meanwhile")
    axes.legend(loc="center left", bbox_to_anchor=(0.64, 0.3))


SWEEP = Sweep(
    title="How long may a holder be stopped?",
    varied="pause / TTL",
    values=(0.25, 0.5, 0.75, 0.9, 1.1, 1.25, 2, 3),
    stages=("lua", "watchdog"),
    repeats=3,
    settings=lambda value: {"ttl_ms": round(PAUSE_MS / value), "users": 6, "work_ms": 10},
    scenario=str(FROZEN_SECOND),
    requests=30,
    danger={"faults": 1},
    needs=("ttl", "exclusion"),
    figures={LOST_LOCK: "share of runs in which the lock was lost", LOST_SHARE: "share of the acknowledged lost"},
    expected_s=lambda value, requests: requests * 0.02 + PAUSE_MS / 1000,
    finding=finding,
    draw=draw,
    height_in=4.2,
)
