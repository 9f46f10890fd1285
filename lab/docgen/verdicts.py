"""The generated parts about verdicts: what changed against the stage before, for a chapter; all verdicts, for docs/stages.md.

All come from the reference matrix. A stage without a cell there is reported as not tried yet, in one line.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from app.lock import Stage
from app.locks import stages
from lab.docgen import cells
from lab.errors import choose_from
from lab.report import matrix
from lab.report.matrix import Cell
from lab.text import table

NOT_TRIED = "Not tried yet: the reference matrix has no run of this stage.\n"
HEAD, SEEN = ("scenario", "the claim it tests"), "what was seen"


def _proven(name: str) -> dict[str, Cell]:
    """Return the cells of a stage from which something follows: a run that is VOID proves nothing."""
    return {cell.scenario: cell for cell in cells.of(name) if cell.verdict != "VOID"}


def _before(stage: Stage) -> tuple[str, Mapping[str, Cell]]:
    """Return the nearest stage below that was tried, with its cells; an empty name where none was."""
    while stage.follows is not None:
        stage = stages()[stage.follows]
        if found := _proven(stage.name):
            return stage.name, found
    return "", {}


def _outcome(cell: Cell) -> tuple[str, bool]:
    """Return what makes two cells the same outcome: the verdict, and whether increments were lost otherwise, but no figure."""
    return cell.verdict, matrix.lost_otherwise(cell)


def _changed(name: str) -> str:
    """Return the rows of a chapter: the scenarios whose outcome changed, and in words those that did not fit before."""
    stage = stages()[choose_from("stage", name, stages())]
    if not (now := _proven(name)):
        return NOT_TRIED
    before_name, before = _before(stage)
    whole = f"[all scenarios](../stages.md#{name})"
    if not before_name:
        seen = [[f"`{at}`", f"`{cell.claim}`", matrix.in_short(cell)] for at, cell in now.items()]
        return f"The verdicts in the reference matrix ({whole}):\n\n{table([*HEAD, SEEN], seen)}"
    rows = [
        [f"`{at}`", f"`{cell.claim}`", matrix.in_short(before[at]), matrix.in_short(cell)]
        for at, cell in now.items()
        if at in before and _outcome(before[at]) != _outcome(cell)
    ]
    link = f"[`{before_name}`]({before_name}.md)" + (
        f" (`{stage.follows}` is not tried yet)" if stage.follows != before_name else ""
    )
    lines = [f"No verdict changed against {link} ({whole})."]
    if rows:
        words = "[the words](../README.md#how-to-read-a-chapter)"
        changed = table([*HEAD, f"`{before_name}`", f"`{name}`"], rows).rstrip("\n")
        lines = [f"The verdicts that changed against {link} ({whole}; {words}):", "", changed]
    if new := [cell for at, cell in now.items() if at not in before]:
        lines += ["", f"Tried with `{name}`, and not with `{before_name}`: {_in_words(new)}."]
    return "\n".join(lines) + "\n"


def _in_words(tried: Sequence[Cell]) -> str:
    """Return what was seen in some scenarios, as part of a sentence: kept in …; failed in … (lost 4)."""
    kept = [f"`{cell.scenario}`" for cell in tried if _outcome(cell) == ("KEPT", False)]
    failed = [f"`{cell.scenario}` ({matrix.in_short(cell)})" for cell in tried if cell.verdict in ("ADMITTED", "BROKEN")]
    rest = [
        f"`{cell.scenario}`: {matrix.in_short(cell)}"
        for cell in tried
        if _outcome(cell) == ("KEPT", True) or cell.verdict == "UNSEEN"
    ]
    words = [f"kept in {', '.join(kept)}"] if kept else []
    words += [f"failed in {', '.join(failed)}"] if failed else []
    return "; ".join([*words, *rest])


def _all() -> str:
    """Return the whole table of every stage, each below a heading with the stage's name."""
    return "\n".join(f"### `{name}`\n\n{_whole(stage)}" for name, stage in stages().items())


def _whole(stage: Stage) -> str:
    """Return every scenario that was run with a stage: its claim, whether the stage makes it, what was seen, how often."""
    claimed, rows = {claim.name for claim in stage.claims}, []
    for cell in cells.of(stage.name):
        made = "yes" if cell.claim in claimed else "no"
        rows.append([f"`{cell.scenario}`", f"`{cell.claim}`", made, matrix.with_rounds(cell, matrix.with_verdict(cell))])
    return table([*HEAD, "claimed", SEEN], rows) if rows else NOT_TRIED


PARTS: dict[str, Callable[..., str]] = {"verdicts": _changed, "all_verdicts": _all}
