"""The generated parts about published libraries, and their page: from the kept results of ``lab scorecard``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

from app.library import ALL
from app.lock import Claim
from lab.docgen.translations import anchor
from lab.paths import COMMAND
from lab.report import scorecard
from lab.report.scorecard import Entry
from lab.report.tested_lock import BROKEN, FAILS, NOT_SHOWN, UNDECIDED, TestedClaim, in_short, ordered, speed_in_words
from lab.scenario.libraries import fingerprint, load, names
from lab.text import counted, folded, table

NOTHING = "Nothing is kept yet: `lab scorecard` measures the libraries.\n"
FILE = "../libraries/{}.py"
FOUND = (BROKEN, UNDECIDED, FAILS, NOT_SHOWN)  # verdicts of which the runs are quoted


@cache
def entries() -> list[Entry]:
    """Return all kept results."""
    return scorecard.entries(scorecard.FOLDER)


def pages() -> dict[Path, Callable[[Path], object]]:
    """Return the page: its path, and the function that writes it into a folder; none where no result is kept."""
    path = scorecard.FOLDER / scorecard.INDEX
    return {path: lambda folder: scorecard.write_page(scorecard.FOLDER, folder)} if entries() else {}


def _libraries() -> str:
    """Return a row for each library: what became of the claims under which every library is seen, of others, and its speed."""
    rows = []
    for one in entries():
        about, others = one.tested.about, [f"{_said(each)}: {_listed(of)}" for each, of in one.others]
        found = [_said(one.claim(name)) for name in scorecard.usual_claims()]
        orders, speed = scorecard.orders_in_words(one.tested), scorecard.speed(one.tested.speed)
        rows.append(
            [
                _linked(one),
                about.get("language", ""),
                *found,
                "<br>".join(others) or "–",
                _cell(orders),
                speed,
                about.get("used", "") or "–",
            ]
        )
    head = ["library", "language", *(f"`{name}`" for name in scorecard.usual_claims())]
    head += ["other claims", "promises in every order", "speed next to `lua`", "used"]
    return (table(head, rows) + "\n" + " ".join(scorecard.origins(entries())) + "\n") if rows else NOTHING


def _libraries_broken() -> str:
    """Return each promise that is broken: whose, in whose words, when, what was lost, and the command that shows it."""
    rows = [
        [
            _linked(one),
            f"`{claim.claim}`: “{_cell(claim.words)}” ([source]({claim.link}))",
            f"{scorecard.when(claim)}{_because(claim)}",
            _said(claim),
            _command(next((cell.command for cell in claim.cells if cell.verdict == BROKEN), claim.again)),
        ]
        for one, claim in scorecard.failing(entries(), is_promised=True)
    ]
    head = ["library", "what its documentation promises", "what happens", "found", "again"]
    return table(head, rows) if rows else "None.\n" if entries() else NOTHING


def _libraries_admitted() -> str:
    """Return by claim which libraries fail in it without having promised it, and what that costs."""
    by_claim: dict[str, list[str]] = {}
    for one, claim in scorecard.failing(entries(), is_promised=False):
        lost = scorecard.most_lost(claim)
        by_claim.setdefault(claim.claim, []).append(f"{_linked(one)} ({lost} lost)" if lost else _linked(one))
    rows = [[f"`{name}`", Claim[name].value, ", ".join(of)] for name, of in by_claim.items()]
    return table(["claim", "what it states", "fails, and was not promised"], rows) if rows else NOTHING


def _libraries_left_out() -> str:
    return table(["library", "why"], [list(one) for one in scorecard.LEFT_OUT])


def _library_scenarios() -> str:
    voters = f"or {scorecard.VOTERS_REQUESTS} by {scorecard.VOTERS} users where the lock is in several stores"
    return f"{', '.join(f'`{name}`' for name in ALL)}, each with at most {scorecard.REQUESTS} requests, {voters}"


def _linked(one: Entry) -> str:
    return f"[{one.tested.library}](#{anchor(_heading(one))})<br>`{one.name}`"


def _because(claim: TestedClaim) -> str:
    why = scorecard.what_happened(claim)
    return f": {_cell(why)}" if why else ""


def _command(words: str) -> str:
    return f"`{COMMAND} {words.removeprefix('lab ')}`" if words else "–"


def _library_claims() -> str:
    """Return for each library the words of its documentation, what was found, and the commands."""
    return "\n".join("\n".join(_about(one)) for one in entries()) or NOTHING


def _about(one: Entry) -> Iterator[str]:
    tested = one.tested
    yield f"### {_heading(one)}\n"
    sentences = [f"[`{tested.about.get('lock', tested.stage)}`]({FILE.format(one.name)})."]
    sentences += [f"Used: {used}." for used in (tested.about.get("used"),) if used]
    sentences += [f"Not its defaults: {options.rstrip('.')}." for options in (tested.about.get("options"),) if options]
    sentences += ["Its lock is in [a worker](worker.md)."] if tested.worker else []
    sentences += [f"Speed: {speed_in_words(tested.speed)}"] if tested.speed else []
    yield " ".join(sentences) + "\n"
    claims = ordered(tested.claims)
    found = table(
        ["claim", "its documentation", "found", "every order", "runs"],
        [
            [
                f"`{each.claim}`",
                f"“{_cell(each.words)}” ([source]({each.link}))" if each.words else "promised" if each.promised else "no promise",
                _said(each),
                each.orders.replace("_", " ") or "–",
                "; ".join(f"`{cell.scenario}`: {in_short(cell)}" for cell in each.cells) or "–",
            ]
            for each in claims
        ],
    )
    yield folded(f"{counted(len(claims), 'claim')}, with what its documentation says of each", found)
    lines = [line for each in claims for line in _seen(each)]
    yield from lines
    yield from [""] if lines else []
    notes = [f"- {_cell(note)}" for note in tested.notes]
    notes += [f"- In every order of events: {_cell(tested.unexplored)}"] if tested.unexplored else []
    yield from [*notes, ""] if notes else []


def _heading(one: Entry) -> str:
    """Return a heading of its own: a library may have several locks."""
    return f"{one.tested.library} ({one.name})"


def _seen(one: TestedClaim) -> Iterator[str]:
    """Yield what happened to a claim that did not hold, with the command that shows it."""
    if one.schedule:
        again = f": `{COMMAND} {one.again.removeprefix('lab ')}`" if one.again else ""
        yield f"- `{one.claim}` breaks in [an order of events](../reports/reference/libraries/{one.schedule}){again}"
    if one.verdict not in FOUND:
        return
    for cell in one.cells:
        if cell.verdict in (BROKEN, FAILS) or one.verdict == NOT_SHOWN:
            yield (
                f"- `{one.claim}` under `{cell.scenario}`, {in_short(cell)}: {_cell(cell.reason)}. "
                f"`{COMMAND} {cell.command.removeprefix('lab ')}`"
            )


def _said(one: TestedClaim | None) -> str:
    said = scorecard.verdict(one)
    return f"**{said}**" if one is not None and one.verdict == BROKEN else said


def _cell(text: str) -> str:
    """Return a text as it may stand in a table."""
    return " ".join(text.split()).replace("|", "\\|").rstrip(".")


def _libraries_to_measure() -> str:
    """Return which libraries of the shelf have no result, or one of an earlier form of their file."""
    kept = {one.name: one.tested for one in entries()}
    missing = [name for name in names() if name not in kept]
    changed = [
        name for name in names() if name in kept and kept[name].fingerprint != fingerprint(load(name).path, load(name).stage)
    ]
    said = f"Not measured yet: {_listed(missing)}. " if missing else ""
    said += f"Measured before its file changed: {_listed(changed)}. " if changed else ""
    return (
        f"{said}`lab scorecard --resume` measures them.\n" if said else "All libraries of the shelf are measured as they are.\n"
    )


def _listed(some: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in some)


PARTS: dict[str, Callable[..., str]] = {
    "libraries": _libraries,
    "libraries_broken": _libraries_broken,
    "libraries_admitted": _libraries_admitted,
    "libraries_left_out": _libraries_left_out,
    "library_claims": _library_claims,
    "library_scenarios": _library_scenarios,
    "libraries_to_measure": _libraries_to_measure,
}
