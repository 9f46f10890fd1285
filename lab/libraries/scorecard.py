"""The scorecard of published libraries: a page of the kept results, written as Markdown."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from app.foreign.library import ALL
from app.lock import Claim
from lab.evidence.record_lines import read_lines
from lab.own_lock.page import (
    BREAKS,
    BROKEN,
    FAILS,
    HOLDS,
    NOT_SHOWN,
    UNDECIDED,
    Speed,
    TestedCell,
    TestedClaim,
    TestedLock,
    in_words,
    listed,
    ordered,
    orders_in_words,
    speed_in_words,
)
from lab.paths import COMMAND, DOCS, HOME, REFERENCE
from lab.report.html import page
from lab.report.markdown import anchor, as_html
from lab.scenario import reader
from lab.story.say import ENGLISH
from lab.text import counted, folded, table, thousands

FOLDER = REFERENCE / "libraries"
RESULTS = "libraries.jsonl"
INDEX = "index.html"
REQUESTS = 200  # at most, in each run: two a user of the fullest scenario
# what every order of events decided of a promise, and the words for one and for several
ORDERS = ((BREAKS, "breaks", "break"), (HOLDS, "holds", "hold"), ("not_decided", "not decided", "not decided"))
FOUND = (BROKEN, UNDECIDED, FAILS, NOT_SHOWN)  # verdicts of which the runs are quoted
NOTHING = "Nothing is kept yet: `lab scorecard` measures the libraries.\n"
TITLE = "Published locks under the lab's scenarios"
PAGE = """\
# {title}

{home}Each library is used with its defaults, and judged by what its own documentation promises. A row says what happened under
the lab's scenarios on one machine, and the command with it shows it again. [How to read it]({how}).

## Promised, and broken

{broken}
## Not promised, and not so

No documentation of these libraries promises it, so it is no defect. The figure is the number of increments lost in one run.

{admitted}
## All libraries

{libraries}
## Each library

{claims}"""


class Entry(NamedTuple):
    """What is known of one library."""

    # the name of its file on the shelf
    name: str
    tested: TestedLock

    def claim(self, name: str) -> TestedClaim | None:
        """Return what was found of a claim; None where it was not looked at."""
        return next((one for one in self.tested.claims if one.claim == name), None)

    @property
    def heading(self) -> str:
        """Return a heading of its own: a library may have several locks."""
        return f"{self.tested.library} ({self.name})"

    @property
    def linked(self) -> str:
        """Return its name, which leads to its heading."""
        return f"[{self.tested.library}](#{anchor(self.heading)})<br>`{self.name}`"


def entries(folder: Path) -> list[Entry]:
    """Return all results in a folder by language and library. Raises OSError, msgspec's errors."""
    found = [Entry(name, msgspec.json.decode(record, type=TestedLock)) for name, record in read_lines(folder / RESULTS).items()]
    return sorted(
        found, key=lambda one: (one.tested.about.get("language") != "Python", one.tested.about.get("language"), one.name)
    )


def usual_claims() -> list[str]:
    """Return the claims that every library is seen under."""
    return [reader.load(name).tests.name for name in ALL]


def libraries(found: Sequence[Entry]) -> str:
    """Return a row for each library: what became of the claims under which every library is seen, of others, and its speed."""
    usual, rows = usual_claims(), []
    for one in found:
        about, tested = one.tested.about, one.tested
        others: dict[str, list[str]] = {}
        for claim in ordered(tested.claims):
            if claim.claim not in usual:
                others.setdefault(_said(claim), []).append(claim.claim)
        rows.append(
            [
                one.linked,
                about.get("language", ""),
                *(_said(one.claim(name)) for name in usual),
                "<br>".join(f"{said}: {_listed(of)}" for said, of in others.items()) or "–",
                _cell(_orders(tested)),
                _speed(tested.speed),
                about.get("used", "") or "–",
            ]
        )
    head = ["library", "language", *(f"`{name}`" for name in usual)]
    head += ["other claims", "promises in every order", "speed next to `lua`", "used"]
    return (table(head, rows) + "\n" + " ".join(_origins(found)) + "\n") if rows else NOTHING


def broken(found: Sequence[Entry]) -> str:
    """Return each promise that is broken: whose, in whose words, when, what was lost, and the command that shows it."""
    rows = []
    for one, claim in _failing(found, BROKEN):
        worst = _worst(claim)
        title = reader.load(worst.scenario).title if worst else "in an order of events that the explorer found"
        again = next((cell.command for cell in claim.cells if cell.verdict == BROKEN), claim.again)
        happened = f"{title}: {_cell(worst.why_of(claim.claim))}" if worst else title
        rows.append([one.linked, f"`{claim.claim}`: {_promised(claim)}", f"{happened}<br>{_command(again)}", _said(claim)])
    head = ["library", "what its documentation promises", "what happens, and the command that shows it", "found"]
    return table(head, rows) if rows else "None.\n" if found else NOTHING


def admitted(found: Sequence[Entry]) -> str:
    """Return by claim which libraries fail in it without having promised it, and what that costs."""
    by_claim: dict[str, list[str]] = {}
    for one, claim in _failing(found, FAILS):
        lost = _most_lost(claim)
        linked = f"[{one.name}](#{anchor(one.heading)})"
        by_claim.setdefault(claim.claim, []).append(f"{linked} ({lost} lost)" if lost else linked)
    rows = [[f"`{name}`", Claim[name].value, ", ".join(of)] for name, of in by_claim.items()]
    return table(["claim", "what it states", "fails, and was not promised"], rows) if rows else NOTHING


def claims(found: Sequence[Entry], start: Path) -> str:
    """Return for each library the words of its documentation, what was found, and the commands. start: where links begin."""
    return "\n".join("\n".join(_about(one, start)) for one in found) or NOTHING


def _about(one: Entry, start: Path) -> Iterator[str]:
    tested = one.tested
    file, worker = (os.path.relpath(path, start) for path in (HOME / "libraries" / f"{one.name}.py", DOCS / "worker.md"))
    yield f"### {one.heading}\n"
    sentences = [f"[`{tested.about.get('lock', tested.stage)}`]({file})."]
    sentences += [f"Used: {used}." for used in (tested.about.get("used"),) if used]
    sentences += [f"Not its defaults: {options.rstrip('.')}." for options in (tested.about.get("options"),) if options]
    sentences += [f"Its lock is in [a worker]({worker})."] if tested.worker else []
    sentences += [f"Speed: {speed_in_words(tested.speed)}"] if tested.speed else []
    yield " ".join(sentences) + "\n"
    claims = ordered(tested.claims)
    rows = [
        [
            f"`{each.claim}`",
            _promised(each) if each.words else "promised" if each.promised else "no promise",
            _said(each),
            orders_in_words(each),
            "; ".join(f"`{cell.scenario}`: {listed(cell.tally)}" for cell in each.cells) or "–",
        ]
        for each in claims
    ]
    head = ["claim", "its documentation", "found", "every order", "runs"]
    yield folded(f"{counted(len(claims), 'claim')}, with what its documentation says of each", table(head, rows))
    lines = [line for each in claims for line in _seen(each)]
    yield from lines
    yield from [""] if lines else []
    notes = [f"- {_cell(note[ENGLISH])}" for note in tested.notes]
    notes += [f"- In every order of events: {_cell(why)}" for why in (tested.unexplored.get(ENGLISH),) if why]
    notes += [f"- All of it again: {_command(tested.command)}"] if tested.command else []
    yield from [*notes, ""] if notes else []


def _seen(one: TestedClaim) -> Iterator[str]:
    """Yield what happened to a claim that did not hold, with the command that shows it."""
    if one.schedule:
        again = f": {_command(one.again)}" if one.again else ""
        yield f"- `{one.claim}` breaks in [an order of events]({one.schedule}){again}"
    for cell in one.cells if one.verdict in FOUND else ():
        if cell.verdict in (BROKEN, FAILS) or one.verdict == NOT_SHOWN:
            what = _cell(cell.why_of(one.claim))
            yield f"- `{one.claim}` under `{cell.scenario}`, {listed(cell.tally)}: {what}. {_command(cell.command)}"


def _said(one: TestedClaim | None) -> str:
    """Return what a table says of a claim: ``BROKEN 3 of 3, 13 lost``."""
    if one is None:
        return "–"
    lost = _most_lost(one)
    said = f"{in_words(one)}, {thousands(lost)} lost" if lost else in_words(one)
    return f'<strong class="{BROKEN}">{said}</strong>' if one.verdict == BROKEN else said


def _promised(one: TestedClaim) -> str:
    return f"“{_cell(one.words)}” ([source]({one.link}))"


def _worst(one: TestedClaim) -> TestedCell | None:
    """Return the runs in which a claim failed and most was lost; None where no run failed in it."""
    return max((cell for cell in one.cells if cell.verdict in (BROKEN, FAILS)), key=lambda cell: cell.lost, default=None)


def _most_lost(one: TestedClaim) -> int:
    worst = _worst(one)
    return worst.lost if worst else 0


def _failing(found: Sequence[Entry], verdict: str) -> list[tuple[Entry, TestedClaim]]:
    return [(one, claim) for one in found for claim in ordered(one.tested.claims) if claim.verdict == verdict]


def _orders(tested: TestedLock) -> str:
    """Return what every order of events decided, and why not more: ``1 breaks; 4 hold; 2 not decided: the time was over``."""
    found = Counter(one.orders for one in tested.promised)
    said = [f"{found[what]} {word if found[what] == 1 else more}" for what, word, more in ORDERS if found[what]]
    return ": ".join(part for part in ("; ".join(said) or "not looked at", tested.unexplored.get(ENGLISH)) if part)


def _speed(found: Speed | None) -> str:
    """Return the speed as a share of the other's, with the least and the largest pair: ``0.42 (0.38 to 0.47), 9.1 commands``."""
    if found is None or not found.ratio:
        return "–"
    ratios = found.ratios
    between = f" ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else ""
    return f"{found.ratio:.2f}{between}, {found.commands:g} commands"


def _origins(found: Sequence[Entry]) -> list[str]:
    """Return where and when the results were measured, a sentence for each commit and machine."""
    sentences = {}
    for one in sorted(found, key=lambda one: one.tested.origin.started_utc):
        about, machine = one.tested.origin, one.tested.machine
        where = f" {machine['cores']} cores ({machine['processor']})." if machine else ""
        sentences[about.commit, about.judge, where] = f"{about.sentence()}{where}"
    return [*sentences.values()]


def _command(words: str) -> str:
    return f"`{COMMAND} {words.removeprefix('lab ')}`" if words else "–"


def _cell(text: str) -> str:
    """Return a text as it may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|").rstrip(".")


def _listed(some: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in some)


def write_page(folder: Path) -> Path:
    """Write ``index.html`` of the results in a folder next to them, and return its path."""
    path, found, how = folder / INDEX, entries(folder), os.path.relpath(DOCS / "libraries.md", folder)
    text = PAGE.format(
        title=TITLE,
        home="[The ladder, and other runs](../index.html)\n\n" if folder == FOLDER else "",
        how=f"{how}#how-to-read-it",
        broken=broken(found),
        admitted=admitted(found),
        libraries=libraries(found),
        claims=claims(found, folder),
    )
    path.write_text(page("website.html", text=as_html(text), title=TITLE, chinese=False), encoding="utf-8")
    return path
