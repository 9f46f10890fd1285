"""A tested lock as a page, as JUnit's XML, and as a badge."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import msgspec

from lab.errors import ExitStatus
from lab.report.html import page
from lab.report.tested_lock import BREAKS, BROKEN, HOLDS, KEPT, OPEN, TestedLock, in_short, in_words, speed_in_words
from lab.text import counted

COLOURS = {KEPT: "#1a7f37", BROKEN: "#b42318", OPEN: "#57606a"}
LETTER_PX, PADDING_PX = 6.6, 12


def write_page(tested: TestedLock, folder: Path, runs: Path) -> Path:
    """Write ``test.json`` and ``test.html``. runs: the folder of run folders, which the page links to. Return the page."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test.json").write_bytes(msgspec.json.format(msgspec.json.encode(tested), indent=1) + b"\n")
    pictures = {one.claim: _inlined(folder / one.schedule) for one in tested.claims if one.schedule}
    where = {cell.run: _link(runs / cell.run, folder) for one in tested.claims for cell in one.cells if cell.run}
    path = folder / "test.html"
    words = {"in_words": in_words, "in_short": in_short, "speed_in_words": speed_in_words}
    path.write_text(page("test.html", tested=tested, pictures=pictures, where=where, **words), encoding="utf-8")
    return path


def _inlined(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    return text[text.index("<svg") :]


def _link(run: Path, folder: Path) -> str:
    return os.path.relpath((run / "report.html").resolve(), folder.resolve())


class Case(NamedTuple):
    """A case of JUnit's XML."""

    name: str
    is_broken: bool
    is_kept: bool
    words: str
    took_s: float = 0.0


def junit(tested: TestedLock) -> str:
    """Return the result as JUnit's XML: a case for what every order decided of a claim, and one for each run.

    Source: https://github.com/testmoapp/junitxml
    """
    cases = []
    for one in tested.claims:
        if one.orders:
            words = f"{one.sentence} {one.again}".strip()
            cases.append(Case(f"{one.claim}: every order of events", one.orders == BREAKS, one.orders == HOLDS, words))
        for cell in one.cells:
            is_broken, name = cell.tally.get(BROKEN, 0) == cell.tries, f"{one.claim}: run of {cell.scenario}"
            is_shown = cell.verdict in (KEPT, "ADMITTED") or (cell.verdict == "UNSEEN" and not one.promised)
            cases.append(Case(name, is_broken, is_shown, cell.reason, cell.took_s))
    return page("junit.xml.j2", lock=tested.lock, cases=cases)


def badge(tested: TestedLock) -> str:
    """Return the result as a badge, a still SVG."""
    kept, broken = tested.names(KEPT), tested.names(BROKEN)
    verdict = BROKEN if broken else KEPT if tested.status is ExitStatus.GOOD else OPEN
    words = {
        BROKEN: f"{counted(len(broken), 'promise')} broken",
        KEPT: f"{counted(len(kept), 'promise')} kept",
        OPEN: f"{len(kept)} of {counted(len(tested.promised), 'promise')} shown",
    }[verdict]
    return page("badge.svg.j2", name="lock lab", words=words, colour=COLOURS[verdict], letter=LETTER_PX, padding=PADDING_PX)
