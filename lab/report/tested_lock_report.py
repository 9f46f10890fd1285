"""A tested lock as a page, as JUnit's XML, and as a badge."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

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


def junit(tested: TestedLock) -> bytes:
    """Return the result as JUnit's XML: a case for what every order decided of a claim, and one for each run.

    Source: https://github.com/testmoapp/junitxml
    """
    suite = ET.Element("testsuite", name=f"lab test {tested.lock}")
    counts = {"tests": 0, "failures": 0, "skipped": 0}
    for one in tested.claims:
        if one.orders:
            words = f"{one.sentence} {one.again}".strip()
            _case(suite, counts, f"{one.claim}: every order of events", one.orders == BREAKS, one.orders == HOLDS, words)
        for cell in one.cells:
            is_broken, name = cell.tally.get(BROKEN, 0) == cell.tries, f"{one.claim}: run of {cell.scenario}"
            is_shown = cell.verdict in (KEPT, "ADMITTED") or (cell.verdict == "UNSEEN" and not one.promised)
            _case(suite, counts, name, is_broken, is_shown, cell.reason, cell.took_s)
    for name, number in counts.items():
        suite.set(name, str(number))
    suite.set("errors", "0")
    root = ET.Element("testsuites")
    root.append(suite)
    ET.indent(root)
    text: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _case(
    suite: ET.Element, counts: dict[str, int], name: str, is_broken: bool, is_kept: bool, words: str, took_s: float = 0.0
) -> None:
    case = ET.SubElement(suite, "testcase", classname=suite.get("name", ""), name=name, time=f"{took_s:.3f}")
    counts["tests"] += 1
    if is_broken:
        counts["failures"] += 1
        ET.SubElement(case, "failure", message="the promise is broken").text = words
    elif not is_kept:
        counts["skipped"] += 1
        ET.SubElement(case, "skipped", message=f"nothing was shown. {words}")


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


def rows(tested: TestedLock) -> Sequence[tuple[str, str, str, str]]:
    """Return a row for each claim: its name, its verdict, what every order decided, and the runs."""
    return [
        (
            one.claim,
            in_words(one),
            one.orders.replace("_", " "),
            ", ".join(f"{cell.scenario} {in_short(cell)}" for cell in one.cells),
        )
        for one in tested.claims
    ]
