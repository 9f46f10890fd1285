"""The generated parts of docs/which-lock.md: the cost of each stage against one atomic command, and the promises it keeps."""

from __future__ import annotations

from collections.abc import Callable

from app.lock import Claim
from app.locks import stages
from lab.report import matrix, reference
from lab.report.matrix import Cell
from lab.report.reference import CEILING


def seen(stage: str, verdict: str) -> list[Cell]:
    """Return the cells of a stage in the reference matrix that have this verdict."""
    return [cell for cell in reference.cells() if cell.stage == stage and cell.verdict == verdict]


def fits(stage: str) -> int:
    """Return how many scenarios fit a stage."""
    return sum(1 for cell in reference.cells() if cell.stage == stage and cell.verdict)


def by_speed() -> list[str]:
    """Return the stages that have a run in the reference ladder, the fastest first."""
    known = [name for name in stages() if reference.has_run(name)]
    return sorted(known, key=lambda name: -reference.of_stage(name).judgement.throughput_per_s)


def _costs() -> str:
    head = [
        "stage",
        f"throughput, of `{CEILING}`'s",
        "commands an increment",
        "wait p99, ms",
        "kept",
        "harm shown (not promised)",
    ]
    rows = [head, ["---"] * len(head)]
    for name in by_speed():
        judgement = reference.of_stage(name).judgement
        harms = ", ".join(f"`{claim}`" for claim in dict.fromkeys(cell.claim for cell in seen(name, "ADMITTED"))) or "none"
        kept = f"{len(seen(name, 'KEPT'))} of {fits(name)}"
        share = f"{reference.share_of_ceiling(name):.0%}"
        figures = (reference.figure(judgement, "commands"), reference.figure(judgement, "p99"))
        rows.append([f"[`{name}`](ladder/{name}.md)", share, *figures, kept, harms])
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def _keepers() -> str:
    """Return for each promise the stages that keep it and the stages that break it, the fastest first."""
    about = verdicts()
    lines = ["| the promise you need | kept by, the fastest first | broken by |", "| --- | --- | --- |"]
    for claim in Claim:
        if of := about.get(claim.name):
            kept = [f"`{name}`" for name in by_speed() if of.get(name) == {"KEPT"}]
            broken = [f"`{name}`" for name in by_speed() if "ADMITTED" in of.get(name, ())]
            lines.append(
                f"| `{claim.name}`: {claim.value} | {', '.join(kept) or 'no stage'} | {', '.join(broken) or 'no stage'} |"
            )
    return "\n".join(lines) + "\n"


def verdicts() -> dict[str, dict[str, set[str]]]:
    """Return the verdicts of each claim with each stage; several scenarios may test one claim."""
    about: dict[str, dict[str, set[str]]] = {}
    for cell in reference.cells():
        if cell.verdict:
            about.setdefault(cell.claim, {}).setdefault(cell.stage, set()).add(cell.verdict)
    return about


def _share(stage: str) -> str:
    return f"{reference.share_of_ceiling(stage):.0%}"


def _kept(stage: str) -> str:
    return f"{len(seen(stage, 'KEPT'))} of {fits(stage)}"


def _locks_share() -> str:
    """Return the range of the throughput of the locks proper, as shares of the ceiling."""
    shares = [reference.share_of_ceiling(name) for name in locks()]
    return f"{min(shares):.0%} to {max(shares):.0%}"


def locks() -> list[str]:
    """Return the locks proper: the stages with a store that kept ``exclusive`` in the matrix."""
    return [name for name in by_speed() if stages()[name].store and "exclusive" in {cell.claim for cell in seen(name, "KEPT")}]


def _nobody() -> str:
    """Return the claims that were tested and that no stage keeps."""
    alone = [claim for claim, stages_of in verdicts().items() if {"KEPT"} not in stages_of.values()]
    return ", ".join(f"`{claim}`" for claim in alone) or "none"


def _harms(stage: str) -> str:
    return ", ".join(f"`{cell.scenario}` ({matrix.in_short(cell)})" for cell in seen(stage, "ADMITTED")) or "none"


PARTS: dict[str, Callable[..., str]] = {
    "costs": _costs,
    "keepers": _keepers,
    "share": _share,
    "kept": _kept,
    "harms": _harms,
    "locks_share": _locks_share,
    "nobody": _nobody,
}
