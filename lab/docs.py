"""The generated parts of the documents: tables and figures between markers, made from the shelf and the reference runs.

A part stands between ``<!-- generated: NAME -->`` and ``<!-- end -->``; ``lab docs`` writes them all again, and a test
fails when one has drifted.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from app.locks import stages
from lab import matrix, report, scenario, series, sweeps, swept
from lab.listing import difference
from lab.matrix import Cell
from lab.series import Result

HOME = Path(__file__).parents[1]
REFERENCE = HOME / "reports" / "reference"
PART = re.compile(r"(<!-- generated: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def documents() -> list[Path]:
    """The documents that may hold generated parts."""
    return [HOME / "README.md", HOME / "CONTRIBUTING.md", *sorted((HOME / "docs").glob("*.md"))]


def write() -> list[Path]:
    """Write all generated parts again; returns the documents that changed. Raises KeyError for a part nobody makes."""
    changed = []
    for path in documents():
        text = path.read_text(encoding="utf-8")
        if (filled := fill(text)) != text:
            path.write_text(filled, encoding="utf-8")
            changed.append(path)
    return changed


def fill(text: str) -> str:
    """The text with each generated part as it should be."""
    return PART.sub(lambda part: part[1] + PARTS[part[2]]() + part[3], text)


def _ladder() -> str:
    return report.markdown(_results())


def _results() -> list[Result]:
    return [series.load(folder) for folder in report.runs_in(REFERENCE)]


def _stages() -> str:
    lines = ["| stage | follows | the idea | what is still wrong |", "| --- | --- | --- | --- |"]
    for name, stage in stages().items():
        follows = f"`{stage.follows}`" if stage.follows else ""
        lines.append(f"| `{name}` | {follows} | {stage.story.idea} | {stage.story.still[0]} |")
    return "\n".join(lines) + "\n"


def _scenarios() -> str:
    lines = ["| scenario | the situation | the claim it tests |", "| --- | --- | --- |"]
    for name in scenario.names():
        one = scenario.load(name)
        lines.append(f"| `{name}` | {one.title} | `{one.tests.name}`: {one.tests.value} |")
    return "\n".join(lines) + "\n"


def _machine() -> str:
    record = _results()[0].record
    machine, versions = record.machine, record.versions
    return (
        f"One run of `make ladder`, {record.started_utc[:10]}, on {machine['cores']} cores ({machine['processor']}), "
        f"Python {versions['python']}, {versions['redis-server'].split(' sha')[0]}. "
        "Speeds are this machine's; compare ratios.\n"
    )


def _chapters() -> str:
    cells = matrix.load(REFERENCE / "matrix")
    return "".join(_chapter(name, [cell for cell in cells if cell.stage == name and cell.verdict]) for name in stages())


def _chapter(name: str, cells: list[Cell]) -> str:
    stage = stages()[name]
    lines = [f"## `{name}`", "", f"**Problem.** {stage.story.problem}", "", f"**Idea.** {stage.story.idea}", ""]
    if stage.follows:
        lines += [f"What changes from `{stage.follows}`:", "", "```diff", *difference(stages()[stage.follows], stage), "```", ""]
    lines += ["| scenario | the claim it tests | claimed | what was seen |", "| --- | --- | --- | --- |"]
    claimed = {claim.name for claim in stage.claims}
    for cell in cells:
        made = "yes" if cell.claim in claimed else "no"
        lines.append(f"| `{cell.scenario}` | `{cell.claim}` | {made} | {cell.verdict}: {matrix.in_short(cell)} |")
    lines += ["", "**Still wrong.**", "", *(f"- {line}" for line in stage.story.still), "", "**See it.**", ""]
    return "\n".join([*lines, *(f"- `{line}`" for line in stage.story.see_it), "", ""])


def _matrix() -> str:
    return matrix.markdown(matrix.load(REFERENCE / "matrix"))


def _sweeps() -> str:
    lines = []
    for name in sweeps.names():
        sweep, kept = sweeps.load(name), swept.load(REFERENCE / f"sweep-{name}")
        found = sweep.finding(swept.curves(kept))
        lines.append(f"- {sweep.title} [{found}](reports/reference/sweep-{name}/{name}.svg).\n")
    return "".join(lines)


PARTS: dict[str, Callable[[], str]] = {
    "ladder": _ladder,
    "stages": _stages,
    "scenarios": _scenarios,
    "machine": _machine,
    "chapters": _chapters,
    "matrix": _matrix,
    "sweeps": _sweeps,
}
