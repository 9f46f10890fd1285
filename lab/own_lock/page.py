"""Write the result of a lock's test, by claim, from every order of events and from runs; as a page, and as JUnit's XML.

``lab test`` has one round of runs, and ``lab libraries measure`` has several for each published library. The record is the same.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from app.lock import Claim
from app.locks import stages
from lab.errors import ExitStatus
from lab.language import Language
from lab.report.html import in_both, page, page_of, path_in
from lab.report.matrix import Cell, Origin
from lab.report.statistics import geometric_mean
from lab.story.say import ENGLISH, capital, claim, text, translated, words
from lab.story.verdict import because, promise
from lab.text import printable, thousands

HOLDS, BREAKS = "holds", "breaks"  # the results of a decision
KEPT, BROKEN = "KEPT", "BROKEN"
# verdicts on a promise: some runs broke it and other runs did not; no run shows whether it holds
UNDECIDED, NOT_SHOWN = "NOT DECIDED", "NOT SHOWN"
# verdicts on a claim that the lock does not make: a run broke the claim; no run broke it
FAILS, HELD = "ADMITTED", "UNSEEN"


class TestedCell(Cell, kw_only=True):
    """The results of one scenario's runs for one claim."""

    __test__ = False  # for pytest, which collects classes by their name

    # the command that makes one of the runs
    command: str = ""

    def why_of(self, claim: str, language: Language = ENGLISH) -> str:
        """Return how the run broke a claim; if it did not, the reason of its verdict."""
        broken = [one for one in self.grounds.violations if one.claim == claim] if self.grounds is not None else []
        return because(broken[0], language) if broken else self.why(language)

    @property
    def tally(self) -> dict[str, int]:
        """Return how many of its runs had each verdict."""
        return self.rounds or {self.verdict: 1}


class TestedClaim(msgspec.Struct, kw_only=True):
    """One claim and its results."""

    __test__ = False

    claim: str
    # whether the lock makes the claim; a claim that it does not make is never broken
    promised: bool = True
    # the words of the documentation that make the claim, and their address; empty if they are not known
    words: str = ""
    link: str = ""
    # what the search of every order of events decided: holds, breaks, not_decided, not_looked_at; empty if no order was searched
    orders: str = ""
    # the picture of a shortest schedule that breaks it, a file next to the page, with one for each language; empty without one
    schedule: str = ""
    # the command that shows the schedule again
    again: str = ""
    # the two lines of the lock between which it breaks, and the stage that mends it; empty if they are not known
    between: list[str] = []
    mended_by: str = ""
    # the runs under scenarios that test it, and runs under other scenarios that broke it
    cells: list[TestedCell] = msgspec.field(default_factory=list)

    @property
    def tally(self) -> Counter[str]:
        """Return how many runs had each verdict."""
        total: Counter[str] = Counter()
        for cell in self.cells:
            total.update(cell.tally)
        return total

    @property
    def breaking(self) -> TestedCell | None:
        """Return the scenario whose runs broke it most often; None if no run did."""
        return max(
            (one for one in self.cells if one.tally.get(BROKEN)), key=lambda one: one.tally[BROKEN] / one.tries, default=None
        )

    @property
    def verdict(self) -> str:
        """Return the verdict. A claim is broken if an order of events breaks it, or if each run of a scenario does."""
        tally, worst = self.tally, self.breaking
        if self.orders == BREAKS or (worst is not None and worst.tally[BROKEN] == worst.tries):
            return BROKEN
        if worst is not None:
            return UNDECIDED
        if self.orders == HOLDS or tally[KEPT]:
            return KEPT
        return FAILS if tally[FAILS] else HELD if tally[HELD] and not self.promised else NOT_SHOWN


class Speed(msgspec.Struct, kw_only=True):
    """The lock's price next to a stage of the ladder: pairs of runs, made in turn."""

    # the stage
    next_to: str
    # increments a second that were kept, by pair
    per_s: list[float]
    next_to_per_s: list[float]
    # commands for each increment: the mean of the runs
    commands: float
    next_to_commands: float

    @property
    def ratios(self) -> list[float]:
        """Return by pair of runs the lock's speed divided by the other stage's speed."""
        return [one / other for one, other in zip(self.per_s, self.next_to_per_s, strict=True) if one and other]

    @property
    def ratio(self) -> float:
        """Return the geometric mean of the ratios; 0 if there is none."""
        return geometric_mean(self.ratios).value if self.ratios else 0.0


class TestedLock(msgspec.Struct, kw_only=True):
    """The content of ``test.json``, and of a file of the scorecard."""

    __test__ = False

    schema: int = 3
    # as the command named it, and the name of its stage
    lock: str
    stage: str
    # the library and its version, if it is known
    library: str = ""
    # of a published library: ``language``, ``used``, ``lock`` and ``options``, as its file has them
    about: dict[str, str] = msgspec.field(default_factory=dict)
    # the command of the program that holds the locks; empty if the replicas hold them
    worker: str = ""
    # the reasons why no order of events was searched, why promises stay undecided, and why scenarios were not run: by language
    unexplored: dict[Language, str] = {}
    notes: list[dict[Language, str]] = []
    claims: list[TestedClaim] = msgspec.field(default_factory=list)
    # how many rounds of runs the user requested
    rounds: int = 1
    # None if it was not measured, or if a run of it shows no speed
    speed: Speed | None = None
    # the command that tests it again, and how long it took
    command: str = ""
    took_s: float = 0
    # the lab, and the machine
    origin: Origin = Origin()
    machine: dict[str, Any] = msgspec.field(default_factory=dict)

    @property
    def promised(self) -> list[TestedClaim]:
        """Return the claims that the lock makes."""
        return [one for one in self.claims if one.promised]

    def names(self, *verdicts: str) -> list[str]:
        """Return the promises with one of these verdicts."""
        return [one.claim for one in self.promised if one.verdict in verdicts]

    @property
    def status(self) -> ExitStatus:
        """Return 1 if a promise is broken, 3 if nothing was shown about one, else 0."""
        if self.names(BROKEN):
            return ExitStatus.BROKEN
        return ExitStatus.NOTHING_SHOWN if self.names(UNDECIDED, NOT_SHOWN, FAILS) or not self.promised else ExitStatus.GOOD


def headline(tested: TestedLock, language: Language = ENGLISH) -> str:
    """Return the result in a line."""
    say, listed = partial(text, "tested", language=language), words(language)["mark"]["names_comma"].join
    broken, kept, open_ = tested.names(BROKEN), tested.names(KEPT), tested.names(UNDECIDED, NOT_SHOWN)
    number = len(tested.promised)
    if broken:
        return say("broken", n=len(broken), of=number, claims=listed(broken))
    rest = say("rest", claims=listed(open_)) if open_ else ""
    return say("kept", n=number, kept=len(kept), rest=rest)


def speed_in_words(found: Speed, language: Language = ENGLISH) -> str:
    """Return in sentences how fast the lock is, and how many commands it sends, compared with the stage next to it."""
    mean, next_to = (sum(one) / len(one) for one in (found.per_s, found.next_to_per_s))
    return text(
        "tested",
        "speed",
        language,
        len(found.per_s),
        ratio=f"{found.ratio:.2f}",
        stage=found.next_to,
        per_s=thousands(mean),
        other_per_s=thousands(next_to),
        commands=f"{found.commands:g}",
        other_commands=f"{found.next_to_commands:g}",
    )


def listed(tally: dict[str, int], language: Language = ENGLISH) -> str:
    """Return how many runs had each verdict, the worst first; without figures if there was one run."""
    order = (BROKEN, FAILS, KEPT, HELD, "VOID")
    found = [_counted(verdict, tally, verdict, language) for verdict in order if tally.get(verdict)]
    comma: str = words(language)["mark"]["names_comma"]
    return comma.join(found)


def not_shown(tested: TestedLock, language: Language = ENGLISH) -> list[str]:
    """Return why nothing was shown about some promises: each reason once, whatever figures are in it."""
    found: dict[str, tuple[str, list[str]]] = {}
    for one in tested.promised:
        if one.verdict in (UNDECIDED, NOT_SHOWN, FAILS):
            void = next((cell.why(language) for cell in one.cells if cell.verdict == "VOID"), "")
            why = void or text("tested", "no_run", language)
            found.setdefault(re.sub(r"\d+", "", why), (why, []))[1].append(one.claim)
    comma: str = words(language)["mark"]["names_comma"]
    return [text("tested", "nothing_shown", language, claims=comma.join(names), why=why) for why, names in found.values()]


def mending(row: TestedClaim, language: Language = ENGLISH) -> str:
    """Return the cure of a promise that breaks: the idea of a stage, and the command that shows this stage's change."""
    stage = stages()[row.mended_by]
    idea, command = translated(f"stage.{stage.name}.idea", stage.story.idea, language), f"lab diff {stage.follows} {stage.name}"
    return text("tested", "mends", language, idea=idea, command=command)


def orders_in_words(row: TestedClaim, language: Language = ENGLISH) -> str:
    """Return in words what the search of every order of events decided about a claim."""
    return text("tested_orders", row.orders, language) if row.orders else "–"


def in_words(row: TestedClaim, language: Language = ENGLISH) -> str:
    """Return the verdict of a claim with the runs on which it rests: ``KEPT 6 of 6``, ``held 3 of 3, though not promised``."""
    say = partial(text, "tested", language=language)
    worst, tally = row.breaking, row.tally
    match row.verdict:
        case "BROKEN":
            is_whole = worst is not None and worst.tally[BROKEN] == worst.tries
            line = _counted(BROKEN, worst.tally, BROKEN, language) if worst and is_whole else say("in_some_order", verdict=BROKEN)
        case "NOT DECIDED":
            line = say("not_decided", verdicts=listed(worst.tally, language) if worst else "")
        case "KEPT":
            line = _counted(KEPT, tally, KEPT, language) if tally[KEPT] else say("in_every_order", verdict=KEPT)
        case "ADMITTED":
            line = say("not_promised", what=_counted(say("fails"), tally, FAILS, language))
        case "UNSEEN":
            line = say("though_not_promised", what=_counted(say("held"), tally, HELD, language))
        case _:
            line = say("not_shown")
    return line


def _counted(word: str, tally: dict[str, int], verdict: str, language: Language) -> str:
    """Return a verdict with its number of runs; without the number if there was one run."""
    total = sum(tally.values())
    return text("tested", "number", language, tally[verdict], what=word, of=total) if total > 1 else word


def ordered(claims: Sequence[TestedClaim]) -> list[TestedClaim]:
    """Return claims in their order in ``app/lock.py``, the promised ones first."""
    order = [claim.name for claim in Claim]
    return sorted(claims, key=lambda one: (not one.promised, order.index(one.claim)))


def write_page(tested: TestedLock, folder: Path, runs: Path) -> Path:
    """Write ``test.json``, and the page in each language. Return the path of the English one.

    runs: the folder of run folders, which the page links to. The pictures of schedules are in the folder already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "test.json").write_bytes(msgspec.json.format(msgspec.json.encode(tested), indent=1) + b"\n")
    return in_both("test.html", folder / "test.html", lambda language: page_values(tested, folder, runs, language))[0]


def page_values(tested: TestedLock, folder: Path, runs: Path, language: Language) -> dict[str, Any]:
    """Return the values that the page of a lock shows in a language."""
    cells = [cell for one in tested.claims for cell in one.cells if cell.run]
    return {
        "tested": tested,
        "pictures": {one.claim: _inlined(folder / one.schedule, language) for one in tested.claims if one.schedule},
        "where": {cell.run: _link(runs / cell.run, folder, language) for cell in cells},
        "say": partial(text, "test_page", language=language),
        "end": words(language)["mark"]["end"],
        "colon": words(language)["mark"]["colon"],
        "headline": headline(tested, language),
        "play": lambda one: f"play/{tested.stage}-{one.claim}.html",
        "plays": {f"play/{path.name}" for path in (folder / "play").glob("*.html")},
        "sentence": lambda one: promise(one.claim, language),
        "breaks": lambda name: capital(claim(name, "breaks", language)),
        "between": partial(text, "tested", "between", language),
        **{
            function.__name__: partial(function, language=language)
            for function in (in_words, listed, mending, orders_in_words, speed_in_words)
        },
    }


def _inlined(path: Path, language: Language) -> str:
    drawn = path_in(path, language)
    text = (drawn if drawn.exists() else path).read_text(encoding="utf-8")  # one language is kept of a library
    return text[text.index("<svg") :]


def _link(run: Path, folder: Path, language: Language) -> str:
    return os.path.relpath((run / (page_of(run, language) or "report.html")).resolve(), folder.resolve())


def junit(tested: TestedLock) -> str:
    """Return the result as JUnit's XML: a case for each claim that every order of events decided, and one for each run.

    Source: https://github.com/testmoapp/junitxml
    """
    cases: list[dict[str, object]] = []

    def add(name: str, is_broken: bool, is_kept: bool, words: str, took_s: float = 0) -> None:
        cases.append({"name": name, "is_broken": is_broken, "is_kept": is_kept, "words": words, "took_s": took_s})

    for one in tested.claims:
        if one.orders:
            said = f"{Claim[one.claim].value} {one.again}".strip()
            add(f"{one.claim}: every order of events", one.orders == BREAKS, one.orders == HOLDS, said)
        for cell in one.cells:
            is_shown = cell.verdict in (KEPT, "ADMITTED") or (cell.verdict == "UNSEEN" and not one.promised)
            is_broken, name = cell.tally.get(BROKEN, 0) == cell.tries, f"{one.claim}: run of {cell.scenario}"
            add(name, is_broken, is_shown, cell.why_of(one.claim), cell.took_s)
    return printable(page("junit.xml.j2", suite=f"lab test {tested.lock}", cases=cases))
