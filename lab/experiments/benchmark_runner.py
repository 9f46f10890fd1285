"""``lab bench``: run benchmarks, print their figures as they are measured, and write them to a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from rich.markup import escape

from lab.errors import ExitStatus, LabError, choose_from, worst
from lab.experiments.benchmark import HEADING, BenchFile, Measured, entry
from lab.experiments.benchmarks import benches
from lab.experiments.measurement import made_now, save
from lab.paths import REPORTS
from lab.report.terminal import terminal, where_to_look
from lab.text import hanging


def measure(names: Sequence[str], pairs: int) -> int:
    """Run ``lab bench``. Return the exit status: 0 if all promises hold, 1 if not.

    Raises BadInput and the errors of the benchmarks.
    """
    shelf = benches()
    wanted = [choose_from("measurement", name, shelf) for name in dict.fromkeys(names)] or list(shelf)
    console = terminal()
    results: list[Measured] = []
    unmeasured: dict[str, LabError] = {}
    console.print(HEADING, style="bold")
    for name in wanted:
        console.print(f"measuring {name} …", style="dim")
        try:
            for result in shelf[name].measure(pairs):
                results.append(result)
                console.print(escape(entry(result)), soft_wrap=True)
        except LabError as reason:
            unmeasured[name] = reason
            console.print(escape(hanging("", f"{name} was not measured: {reason}", 0)), style="yellow", soft_wrap=True)
    if unmeasured:
        console.print(escape(hanging("", f"Not measured: {', '.join(unmeasured)}. The reasons are above.", 0)), soft_wrap=True)
    where_to_look(console, _write(results, unmeasured, pairs))
    broken = [ExitStatus.BROKEN for result in results if not result.held]
    return worst([*broken, *(reason.exit_status for reason in unmeasured.values())])


def _write(results: Sequence[Measured], unmeasured: Mapping[str, LabError], pairs: int) -> Path:
    reasons = {name: str(reason) for name, reason in unmeasured.items()}
    found = made_now(BenchFile, pairs=pairs, figures=list(results), unmeasured=reasons)
    return save(found, REPORTS / f"bench-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.json")[0]
