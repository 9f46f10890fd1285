"""Write the matrix as a page: every cell opens what was seen in it, the command to see it again, and links to its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from app.lock import Claim
from lab.paths import COMMAND
from lab.report.html import page
from lab.report.matrix import Cell, Origin, cell_requests, in_full, in_short, never_admitted
from lab.report.matrix_layout import CORE_SCENARIOS, CORE_STAGES, SHORT, Layout, Marks, in_words, layout, mark, marks
from lab.report.palette import HARMS, MEANINGS, NAMES, SIGNS, Mark
from lab.scenario import reader as scenarios
from lab.story.say import text


class Opened(msgspec.Struct, frozen=True):
    """What the page shows of a cell when a reader opens it."""

    scenario: str
    stage: str
    mark: str
    # its verdict in words, with its figures
    outcome: str
    # the reason of the verdict, or why the cell was not run
    why: str
    # how many of its runs had the verdict
    rounds: str
    # what the search of all orders decided of the claim; empty where it decided nothing
    orders: str
    # the options of the command that makes such a run; empty where the lab does not know the scenario
    command: str
    # how many requests were lost, counted twice, failed, and had no clear answer
    counts: tuple[int, int, int, int]
    # pages and pictures of such a run: their words and addresses
    links: tuple[tuple[str, str], ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """Return its texts in the order in which the script reads them. Most cells share theirs, so the page has each once."""
        return (self.scenario, self.stage, self.mark, self.outcome, self.why, self.rounds, self.orders, self.command)


def write_page(
    cells: Sequence[Cell],
    folder: Path,
    origin: Origin,
    decided: Mapping[str, Mapping[str, str]] | None = None,
    home: Path | None = None,
    levels: Mapping[tuple[str, str], str] | None = None,
) -> Path:
    """Write ``index.html``. Return its path. The other arguments are those of ``matrix_picture.draw``.

    home: the folder of the matrix, where the page is written to another folder.
    levels: by stage and claim, the page on which a reader breaks the claim.
    """
    path, known = folder / "index.html", marks(cells)
    plan = layout(known)
    text = page("matrix.html", **_values(cells, home or folder, plan, known, decided or {}, levels or {}), origin=origin)
    path.write_text(text, encoding="utf-8")
    return path


def _values(
    cells: Sequence[Cell],
    folder: Path,
    plan: Layout,
    known: Marks,
    decided: Mapping[str, Mapping[str, str]],
    levels: Mapping[tuple[str, str], str],
) -> dict[str, object]:
    shown = [cell for cell in cells if mark(cell) is not Mark.IMPOSSIBLE or cell.reason]
    found = [opened(cell, folder, decided, levels.get((cell.stage, cell.claim), "")) for cell in shown]
    shelf = scenarios.names()
    loaded = {name: scenarios.load(name) for name in plan.all_rows if name in shelf}
    about = {name: [one.title, one.tests.name, Claim(one.tests).value] for name, one in loaded.items()}
    texts = list(dict.fromkeys(each for one in found for each in one.texts))
    places = {each: place for place, each in enumerate(texts)}
    packed = [[*(places[each] for each in one.texts), one.counts, one.links] for one in found]
    data: dict[str, object] = {"texts": texts, "cells": packed, "about": about}
    data["words"] = {NAMES[one]: one.value for one in Mark}
    for name, of in (("meanings", MEANINGS), ("signs", SIGNS)):
        data[name] = {NAMES[one]: said for one, said in of.items()}
    few = not any(scenario in CORE_SCENARIOS for scenario in plan.all_rows) or len(plan.all_rows) <= len(CORE_SCENARIOS)
    return {
        "plan": plan,
        "known": known,
        "untried": Mark.UNTRIED,
        "names": NAMES,
        "signs": SIGNS,
        "meanings": MEANINGS,
        "harms": HARMS,
        "all_marks": [one for one in Mark if one in set(known.values())],
        "words": in_words,
        "say": text,
        "short": SHORT,
        "notes": {(cell.scenario, cell.stage): _note(cell) for cell in shown},
        "broken": {(cell.scenario, cell.stage) for cell in cells if cell.verdict == "BROKEN"},
        "surprises": [cell for cell in cells if cell.verdict and cell.expected and not cell.as_expected],
        "core_rows": plan.all_rows if few else CORE_SCENARIOS,
        "core_stages": [stage for column in plan.all_columns for stage in column] if few else CORE_STAGES,
        "has_core": not few,
        "never_admitted": never_admitted(cells),
        "in_short": in_short,
        "command": COMMAND,
        "home": "../index.html" if (folder.parent / "index.html").exists() else "",
        "data": msgspec.json.encode(data).decode().replace("<", "\\u003c"),
    }


def opened(cell: Cell, folder: Path, decided: Mapping[str, Mapping[str, str]], level: str = "") -> Opened:
    """Return what the page shows of a cell. folder: that of the matrix; the runs are next to it. level: of lab play."""
    ran = bool(cell.verdict)
    orders = decided.get(cell.stage, {}).get(cell.claim, "") if ran else ""
    why = cell.reason or ("" if ran else "This cell was not run.")
    counts = (cell.lost, cell.duplicated, cell.failed, cell.unknown)
    runs = mark(cell) is not Mark.IMPOSSIBLE
    return Opened(
        scenario=cell.scenario,
        stage=cell.stage,
        mark=NAMES[mark(cell)],
        outcome=f"{cell.verdict}: {in_short(cell)}" if ran else mark(cell).value,
        why=why,
        rounds=in_full(cell),
        orders=orders,
        command=_command(cell) if runs and cell.scenario in scenarios.names() else "",
        counts=counts,
        links=tuple(_links(cell, folder, level)) if runs else (),
    )


def _command(cell: Cell) -> str:
    """Return what follows the scenario and the stage in the command that runs the cell again: as many requests as it had."""
    one = scenarios.load(cell.scenario)
    return f" --requests {cell_requests(one)}" if cell_requests(one) < one.requests else ""


def _links(cell: Cell, folder: Path, level: str) -> list[tuple[str, str]]:
    """Return the pages of the cell's run, of the book, and of its level, where they are at hand."""
    found = []
    if cell.run and (folder.parent / "runs" / cell.run / "report.html").exists():
        found.append(("the run, with its timeline", f"../runs/{cell.run}/report.html"))
    figure = f"chapters/{cell.stage}-{cell.scenario}/timeline.svg"
    if (folder.parent / figure).exists():
        found.append(("the timeline of such a run, in the book", f"../{figure}"))
    return [*found, ("be the scheduler, and break it", level)] if level else found


def _note(cell: Cell) -> str:
    """Return the word next to the mark: a broken promise, or rounds that differ."""
    if cell.verdict == "BROKEN":
        return "broken"
    return f"{cell.seen} of {cell.tries}" if cell.flaky else ""
