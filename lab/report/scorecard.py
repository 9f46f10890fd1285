"""The scorecard of published libraries: the kept results, a file for each, as a table and as a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from app.library import ALL
from lab.paths import COMMAND, REFERENCE
from lab.report.html import page
from lab.report.tested_lock import (
    BREAKS,
    BROKEN,
    FAILS,
    HOLDS,
    KEPT,
    UNDECIDED,
    Speed,
    TestedClaim,
    TestedLock,
    in_short,
    in_words,
    ordered,
    speed_in_words,
)
from lab.scenario import reader
from lab.text import thousands

FOLDER = REFERENCE / "libraries"
INDEX = "index.html"
REQUESTS = 200  # at most, in each run: two a user of the fullest scenario
# of a published lock in several stores: the users at most, because many outvote each other, and who wins wins again at once; and
# so the requests at most
VOTERS, VOTERS_REQUESTS = 6, 1000
# what every order of events decided of a promise, and the words for one and for several
ORDERS = ((BREAKS, "breaks", "break"), (HOLDS, "holds", "hold"), ("not_decided", "not decided", "not decided"))
COLOUR = {KEPT: "KEPT", BROKEN: "BROKEN", UNDECIDED: "VOID", FAILS: "ADMITTED"}  # the class of a verdict on the page


class Entry(NamedTuple):
    """What is known of one library."""

    # the name of its file on the shelf
    name: str
    tested: TestedLock

    def claim(self, name: str) -> TestedClaim | None:
        """Return what was found of a claim; None where it was not looked at."""
        return next((one for one in self.tested.claims if one.claim == name), None)

    @property
    def others(self) -> list[tuple[TestedClaim, list[str]]]:
        """Return the claims without a column of their own, by what was found: one of each kind, and the names of all of it."""
        found: dict[str, tuple[TestedClaim, list[str]]] = {}
        for one in ordered(self.tested.claims):
            if one.claim not in usual_claims():
                found.setdefault(verdict(one), (one, []))[1].append(one.claim)
        return [*found.values()]

    @property
    def link(self) -> str:
        """Return where the documentation says what the library promises; empty where it promises nothing."""
        return next((one.link for one in self.tested.promised if one.link), "")


def read(path: Path) -> TestedLock:
    """Read the file of a library. Raises OSError, msgspec's errors."""
    return msgspec.json.decode(path.read_bytes(), type=TestedLock)


def entries(folder: Path) -> list[Entry]:
    """Return all kept results by language and library."""
    found = [Entry(path.stem, read(path)) for path in folder.glob("*.json")]
    return sorted(
        found, key=lambda one: (one.tested.about.get("language") != "Python", one.tested.about.get("language"), one.name)
    )


def usual_claims() -> list[str]:
    """Return the claims that every library is seen under."""
    return [reader.load(name).tests.name for name in ALL]


# what has no row, and why
LEFT_OUT = (
    ("valkey-glide", "The client has no lock of its own."),
    ("the clients of Consul, DynamoDB and Hazelcast", "The lab has no such server."),
    (
        "redsync and redislock (Go), Redisson (Java)",
        "Their packages could not be had for these measurements. A worker of some 20 lines adds one: docs/worker.md says how.",
    ),
    ("filelock", "It locks on one machine, and the replicas stand for several."),
)


def verdict(one: TestedClaim | None) -> str:
    """Return what a table says of a claim: ``BROKEN 3 of 3, 13 lost``."""
    if one is None:
        return "–"
    lost = most_lost(one)
    return f"{in_words(one)}, {thousands(lost)} lost" if lost else in_words(one)


def most_lost(one: TestedClaim) -> int:
    """Return how many increments were lost in one run in which the claim failed; 0 where it did not, or nothing was lost."""
    return max((cell.lost for cell in one.cells if cell.verdict in (BROKEN, FAILS)), default=0)


def failing(found: Sequence[Entry], is_promised: bool) -> list[tuple[Entry, TestedClaim]]:
    """Return each promise that is broken; or each claim that fails and that nobody promised."""
    wanted = BROKEN if is_promised else FAILS
    return [(one, claim) for one in found for claim in ordered(one.tested.claims) if claim.verdict == wanted]


def when(one: TestedClaim) -> str:
    """Return in which situation a claim failed, the clearest first: the scenario in words, or an order of events."""
    cells = sorted((cell for cell in one.cells if cell.verdict in (BROKEN, FAILS)), key=lambda cell: -cell.lost)
    return reader.load(cells[0].scenario).title if cells else "in an order of events that the explorer found"


def what_happened(one: TestedClaim) -> str:
    """Return why a claim failed, as the run says it that lost most; empty where only an order of events shows it."""
    cells = sorted((cell for cell in one.cells if cell.verdict in (BROKEN, FAILS)), key=lambda cell: -cell.lost)
    return cells[0].reason.rstrip(".") if cells else ""


def orders_in_words(tested: TestedLock) -> str:
    """Return what every order of events decided, and why not more: ``1 breaks; 4 hold; 2 not decided: the time was over``."""
    found = Counter(one.orders for one in tested.promised)
    said = [f"{found[what]} {word if found[what] == 1 else more}" for what, word, more in ORDERS if found[what]]
    return ": ".join(part for part in ("; ".join(said) or "not looked at", tested.unexplored) if part)


def speed(found: Speed | None) -> str:
    """Return the speed as a share of the other's, with the least and the largest pair: ``0.42 (0.38 to 0.47), 9.1 commands``."""
    if found is None or not found.ratio:
        return "–"
    ratios = found.ratios
    between = f" ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else ""
    return f"{found.ratio:.2f}{between}, {found.commands:g} commands"


def origins(found: Sequence[Entry]) -> list[str]:
    """Return where and when the results were measured, a sentence for each commit and machine."""
    sentences = {}
    for one in sorted(found, key=lambda one: one.tested.origin.started_utc):
        about, machine = one.tested.origin, one.tested.machine
        where = f" {machine['cores']} cores ({machine['processor']})." if machine else ""
        sentences[about.commit, about.judge, where] = f"{about.sentence()}{where}"
    return [*sentences.values()]


def write_page(folder: Path, into: Path) -> Path:
    """Write ``index.html`` of the results in a folder into a folder, and return its path."""
    path, found = into / INDEX, entries(folder)
    text = page(
        "scorecard.html",
        found=found,
        claims=usual_claims(),
        sentences={name: reader.load(scenario).tests.value for name, scenario in zip(usual_claims(), ALL, strict=True)},
        broken=failing(found, is_promised=True),
        admitted=failing(found, is_promised=False),
        when=when,
        what_happened=what_happened,
        most_lost=most_lost,
        orders_in_words=orders_in_words,
        left_out=LEFT_OUT,
        core=ALL,
        requests=REQUESTS,
        voters=VOTERS,
        voters_requests=VOTERS_REQUESTS,
        verdict=verdict,
        colour=COLOUR,
        in_short=in_short,
        speed=speed,
        speed_in_words=speed_in_words,
        origins=origins(found),
        ordered=ordered,
        command=COMMAND,
        quoted=("BROKEN", "ADMITTED", "VOID"),
        home="../index.html" if folder == FOLDER else "",
    )
    path.write_text(text, encoding="utf-8")
    return path
