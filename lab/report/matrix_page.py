"""Write the matrix as a page in each language. A cell opens its result, the command of its run, and links to its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.lock import Stage
from app.locks import stages
from lab.language import Language
from lab.paths import COMMAND
from lab.report.chart import HARMS, NAMES, Mark
from lab.report.html import in_both, path_in
from lab.report.matrix import Cell, Origin, cell_requests, in_short
from lab.report.matrix_layout import CORE_SCENARIOS, CORE_STAGES, in_words, layout, mark, marks
from lab.scenario import reader as scenarios
from lab.scenario.requirements import NEEDS
from lab.scenario.scenario import Scenario
from lab.story import say
from lab.story.verdict import promise

# the decisions of the explorer in words, by language, stage and claim
Decided = Mapping[Language, Mapping[str, Mapping[str, str]]]
NOTHING: Decided = {}


def write_page(
    cells: Sequence[Cell],
    folder: Path,
    origin: Origin,
    decided: Decided = NOTHING,
    home: Path | None = None,
    levels: Mapping[tuple[str, str], str] | None = None,
) -> list[Path]:
    """Write ``index.html`` and ``index.zh.html``. Return their paths.

    decided: the decisions of the explorer in words.
    home: the folder of the matrix, if the pages are written to another folder.
    levels: by stage and claim, the page on which a reader breaks the claim.
    """
    names = set(scenarios.names()) & {cell.scenario for cell in cells}
    loaded, shelf = {name: scenarios.load(name) for name in names}, stages()
    about = (cells, home or folder, levels or {}, loaded, shelf)
    return in_both(
        "matrix.html",
        folder / "index.html",
        lambda language: MatrixPage(*about, language, decided.get(language, {})).values(origin),
    )


@dataclass(frozen=True)
class MatrixPage:
    """The values of the page in one language. folder: the folder of the matrix, next to the folder of the runs."""

    cells: Sequence[Cell]
    folder: Path
    levels: Mapping[tuple[str, str], str]
    # the scenarios and the stages that the lab has today
    loaded: Mapping[str, Scenario]
    shelf: Mapping[str, Stage]
    language: Language
    decided: Mapping[str, Mapping[str, str]]

    def say(self, name: str, n: int = 1, **places: object) -> str:
        """Return a text of the page."""
        return say.text("matrix_page", name, self.language, n, **places)

    def values(self, origin: Origin) -> dict[str, object]:
        """Return the values of the template."""
        known = marks(self.cells)
        plan = layout(known)
        shown = [cell for cell in self.cells if mark(cell) is not Mark.IMPOSSIBLE or cell.reason]
        few = not any(scenario in CORE_SCENARIOS for scenario in plan.all_rows) or len(plan.all_rows) <= len(CORE_SCENARIOS)
        data = self._data(shown, plan.all_rows)
        home = path_in(self.folder.parent / "index.html", self.language)
        return {
            "plan": plan,
            "known": known,
            "untried": Mark.UNTRIED,
            "names": NAMES,
            "harms": HARMS,
            "all_marks": [mark for mark in Mark if mark in set(known.values())],
            "families": say.words(self.language)["family"],
            "say": self.say,
            "groups": {group: say.text("part_short", group, self.language) for group in plan.columns},
            "notes": {(cell.scenario, cell.stage): self._note(cell) for cell in shown},
            "broken": {(cell.scenario, cell.stage) for cell in self.cells if cell.verdict == "BROKEN"},
            "core_rows": plan.all_rows if few else CORE_SCENARIOS,
            "core_stages": plan.all_columns if few else CORE_STAGES,
            "has_core": not few,
            "origin": origin.sentence(self.language),
            "command": COMMAND,
            "home": f"../{home.name}" if home.exists() else "",
            "encoded": msgspec.json.encode(data).decode().replace("<", "\\u003c"),
            **data,
        }

    def _data(self, cells: Sequence[Cell], rows: Sequence[str]) -> dict[str, object]:
        """Return the values for the page's script. The template uses some of them too."""
        opened = [self._opened(cell) for cell in cells]
        texts = list(dict.fromkeys(text for of_cell in opened for text in of_cell))  # the page has each text once
        mark_of = say.words(self.language)["mark"]
        places = {text: place for place, text in enumerate(texts)}
        return {
            "texts": texts,
            "cells": [
                [
                    *(places[text] for text in of_one),
                    (cell.lost, cell.duplicated, cell.failed, cell.unknown),
                    self._links(cell) if mark(cell) is not Mark.IMPOSSIBLE else [],
                ]
                for cell, of_one in zip(cells, opened, strict=True)
            ],
            "about": {
                name: [
                    say.translated(f"scenario.{name}", scenario.title, self.language),
                    scenario.tests.name,
                    promise(scenario.tests.name, self.language),
                ]
                for name, scenario in sorted(self.loaded.items())
            },
            "scenarios": {name: in_words(name, self.language) for name in rows},
            "words": {NAMES[mark]: say.text("cell_mark", NAMES[mark], self.language) for mark in Mark},
            "meanings": say.words(self.language)["cell_meaning"],
            "signs": {name: mark.value for mark, name in NAMES.items()},
            "says": say.words(self.language)["matrix_page"],
            "comma": mark_of["names_comma"],
            "colon": mark_of["colon"],
            "end": mark_of["end"],
        }

    def _opened(self, cell: Cell) -> tuple[str, ...]:
        """Return the texts that the page shows of a cell when a reader opens it, in the order in which the script reads them."""
        ran, name = bool(cell.verdict), NAMES[mark(cell)]
        shown = say.text("cell_mark", name, self.language)
        return (
            cell.scenario,
            cell.stage,
            name,
            self.say("outcome", verdict=cell.verdict, what=in_short(cell, self.language)) if ran else shown,
            self._why(cell),
            self.say("rate", cell.tries, seen=cell.seen, verdict=cell.verdict) if ran else "",
            # the explorer's decision on the claim
            self.decided.get(cell.stage, {}).get(cell.claim, "") if ran else "",
            self._command(cell) if mark(cell) is not Mark.IMPOSSIBLE and cell.scenario in self.loaded else "",
        )

    def _why(self, cell: Cell) -> str:
        """Return the reason of the verdict, or why the cell was not run."""
        if cell.verdict:
            return say.as_sentence(cell.why(self.language).rstrip("."), self.language)
        if cell.missing:
            names = say.words(self.language)["mark"]["names_comma"].join(cell.missing)
            return self.say("not_installed", names=names)
        if cell.scenario in self.loaded and cell.stage in self.shelf:
            needs = self.loaded[cell.scenario].needs
            if lacks := [need for need in needs if not NEEDS[need][1](self.shelf[cell.stage])]:
                what = say.translated(f"need.{lacks[0]}", NEEDS[lacks[0]][0], self.language)
                return self.say("unfit", scenario=cell.scenario, stage=cell.stage, what=what)
        return self.say("does_not_fit") if cell.reason else self.say("was_not_run")

    def _links(self, cell: Cell) -> list[tuple[str, str]]:
        """Return words and addresses of the cell's run, of its figure in the book, and of its level, if these files exist."""
        links, reports = [], self.folder.parent
        report, timeline = (path_in(Path(name), self.language).name for name in ("report.html", "timeline.svg"))
        if cell.run and (reports / "runs" / cell.run / report).exists():
            links.append((self.say("run"), f"../runs/{cell.run}/{report}"))
        chapter = f"chapters/{cell.stage}-{cell.scenario}"
        drawn = next((name for name in (timeline, "timeline.svg") if (reports / chapter / name).exists()), "")
        if drawn:
            links.append((self.say("figure"), f"../{chapter}/{drawn}"))
        level = self.levels.get((cell.stage, cell.claim), "")
        return [*links, (self.say("level"), f"{level}?lang={self.language}")] if level else links

    def _note(self, cell: Cell) -> str:
        """Return the word next to the mark: a broken promise, or rounds that differ."""
        if cell.verdict == "BROKEN":
            return self.say("broken")
        return self.say("seen_of", seen=cell.seen, all=cell.tries) if cell.flaky else ""

    def _command(self, cell: Cell) -> str:
        """Return the end of the command that runs the cell again, after the scenario and the stage: its number of requests."""
        scenario = self.loaded[cell.scenario]
        return f" --requests {cell_requests(scenario)}" if cell_requests(scenario) < scenario.requests else ""
