"""The scorecard of published libraries: a page of all kept results, and for each library the page of its test."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from app.foreign.library import ALL
from lab.evidence.record_lines import read_lines
from lab.own_lock.page import (
    BROKEN,
    FAILS,
    Speed,
    TestedCell,
    TestedClaim,
    TestedLock,
    in_words,
    ordered,
    page_values,
)
from lab.paths import COMMAND, DOCS, REFERENCE
from lab.report.html import in_both, page
from lab.report.markdown import as_html
from lab.scenario import reader
from lab.text import table, thousands

FOLDER = REFERENCE / "libraries"
RESULTS = "libraries.jsonl"
INDEX = "index.html"
REQUESTS = 200  # at most, in each run: two a user of the fullest scenario
NOTHING = "Nothing is kept yet: `lab libraries measure` measures the libraries.\n"
TITLE = "Published locks under the lab's scenarios"
PAGE = """\
# {title}

{home}Each library is used with its defaults, and judged by what its own documentation promises. A row says what happened under
the lab's scenarios on one machine, and the command with it shows it again. [How to read it]({how}).

## Promised, and broken

{broken}
## All libraries

A name leads to the page of that library: its promises in the words of its documentation, all verdicts, and why.

{libraries}"""


class Entry(NamedTuple):
    """The results of one library."""

    # the name of its file on the shelf
    name: str
    tested: TestedLock

    def claim(self, name: str) -> TestedClaim | None:
        """Return the result of a claim; None if it was not tested."""
        return next((one for one in self.tested.claims if one.claim == name), None)

    @property
    def link(self) -> str:
        """Return its name, which leads to its page."""
        return f"[{self.tested.library}]({self.name}.html)<br>`{self.name}`"


def entries(folder: Path) -> list[Entry]:
    """Return all results in a folder by language and library. Raises OSError, msgspec's errors."""
    found = [Entry(name, msgspec.json.decode(record, type=TestedLock)) for name, record in read_lines(folder / RESULTS).items()]
    return sorted(
        found, key=lambda one: (one.tested.about.get("language") != "Python", one.tested.about.get("language"), one.name)
    )


def libraries(found: Sequence[Entry]) -> str:
    """Return a row for each library: the results of the claims that every library is tested for, and its speed."""
    usual = [reader.load(name).tests.name for name in ALL]
    rows = [
        [
            one.link,
            one.tested.about.get("language", ""),
            *(_result(one.claim(name)) for name in usual),
            _speed(one.tested.speed),
            one.tested.about.get("used", "") or "–",
        ]
        for one in found
    ]
    head = ["library", "language", *(f"`{name}`" for name in usual), "speed next to `lua`", "used"]
    return (table(head, rows) + "\n" + " ".join(_origins(found)) + "\n") if rows else NOTHING


def broken(found: Sequence[Entry]) -> str:
    """Return each broken promise: library, its words, conditions, increments lost, and the command that shows it."""
    rows = []
    for one, claim in ((entry, claim) for entry in found for claim in ordered(entry.tested.claims) if claim.verdict == BROKEN):
        worst = _worst(claim)
        title = reader.load(worst.scenario).title if worst else "in an order of events that the explorer found"
        again = next((cell.command for cell in claim.cells if cell.verdict == BROKEN), claim.again)
        happened = f"{title}: {_cell(worst.why_of(claim.claim))}" if worst else title
        rows.append([one.link, f"`{claim.claim}`: {_promised(claim)}", f"{happened}<br>{_command(again)}", _result(claim)])
    head = ["library", "what its documentation promises", "what happens, and the command that shows it", "found"]
    return table(head, rows) if rows else "None.\n" if found else NOTHING


def _result(claim: TestedClaim | None) -> str:
    """Return a claim's result for a table: ``BROKEN 3 of 3, 13 lost``."""
    if claim is None:
        return "–"
    worst = _worst(claim)
    result = f"{in_words(claim)}, {thousands(worst.lost)} lost" if worst and worst.lost else in_words(claim)
    return f'<strong class="{BROKEN}">{result}</strong>' if claim.verdict == BROKEN else result


def _promised(claim: TestedClaim) -> str:
    return f"“{_cell(claim.words)}” ([source]({claim.link}))"


def _worst(claim: TestedClaim) -> TestedCell | None:
    """Return the runs in which a claim failed and most increments were lost; None if it never failed."""
    return max((cell for cell in claim.cells if cell.verdict in (BROKEN, FAILS)), key=lambda cell: cell.lost, default=None)


def _speed(found: Speed | None) -> str:
    """Return the speed divided by the other stage's speed, with the range of all pairs: ``0.42 (0.38 to 0.47), 9.1 commands``."""
    if found is None or not found.ratio:
        return "–"
    ratios = found.ratios
    between = f" ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else ""
    return f"{found.ratio:.2f}{between}, {found.commands:g} commands"


def _origins(found: Sequence[Entry]) -> list[str]:
    """Return the date, the commit and the machine of the measurements, a sentence for each commit and machine."""
    sentences = {}
    for one in sorted(found, key=lambda one: one.tested.origin.started_utc):
        about, machine = one.tested.origin, one.tested.machine
        where = f" {machine['cores']} cores ({machine['processor']})." if machine else ""
        sentences[about.commit, about.judge, where] = f"{about.sentence()}{where}"
    return [*sentences.values()]


def _command(words: str) -> str:
    return f"`{COMMAND} {words.removeprefix('lab ')}`" if words else "–"


def _cell(text: str) -> str:
    """Return a text for a cell of a table: in one line, with | escaped, and without a full stop."""
    return " ".join(text.split()).replace("|", "\\|").rstrip(".")


def write_page(folder: Path) -> Path:
    """Write ``index.html`` of the results in a folder next to them, and the page of each. Return the path of the first."""
    path, found, how = folder / INDEX, entries(folder), os.path.relpath(DOCS / "libraries.md", folder)
    for one in found:
        in_both("test.html", folder / f"{one.name}.html", partial(page_values, one.tested, folder, folder))
    home = "[The ladder, and other runs](../index.html)\n\n" if folder == FOLDER else ""
    about = {"title": TITLE, "home": home, "how": f"{how}#how-to-read-it"}
    text = PAGE.format(**about, broken=broken(found), libraries=libraries(found))
    path.write_text(page("website.html", text=as_html(text), title=TITLE, chinese=False), encoding="utf-8")
    return path
