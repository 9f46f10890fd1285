"""What is seen of known failures, in words: a sentence for the terminal, and the table of docs/known-failures.md."""

from __future__ import annotations

from collections.abc import Callable

from lab.experiments.known_failure import PROOF, Replayed, kept
from lab.paths import COMMAND
from lab.scenario import libraries
from lab.scenario.failures import KnownFailure, load, names
from lab.story.verdict import because, fact
from lab.text import table, thousands


def in_words(known: KnownFailure, found: Replayed) -> str:
    """Return whether a run shows a failure, and what was seen."""
    failure = known.failure
    if found.verdict not in PROOF:
        why = "; ".join(map(fact, found.why)) or "the danger was real, and the lock held although it does not promise that"
        return f"Not shown: the run came to {found.verdict} ({why})."
    if failure.compared:
        here = f"{thousands(found.commands_per_increment)} commands for each increment"
        other = libraries.load(failure.compared.library).library.name
        there = (
            f"and {thousands(found.commands_compared)} with {other}" if found.commands_compared else f"and none seen with {other}"
        )
        return f"{'Shown' if found.shows(known) else 'Not shown'}: {here}, {there}."
    if found.violation is None:
        return f"Not shown: the run came to {found.verdict}, and did not break `{failure.breaks}` in the way of the report."
    return f"Shown: {because(found.violation)}. This breaks `{failure.breaks}`{_by_whom(known)}."


def _by_whom(known: KnownFailure) -> str:
    """Return who states the claim that breaks."""
    failure = known.failure
    if failure.is_documented:
        return ", which the documentation promises"
    return ", which the report asks for" if failure.breaks in failure.promises else ", which nothing promises"


def _table() -> str:
    """Return a row for each known failure."""
    rows = []
    for known in map(load, names()):
        failure = known.failure
        report = f"[{failure.report or 'its code'}]({failure.link})"
        again = f"`{COMMAND} failures {known.name}`" if known.stage else ""
        rows.append([report, failure.name, failure.what, _seen(known), again])
    return table(["report", "version", "what it says", "what the lab saw", "command"], rows)


def _seen(known: KnownFailure) -> str:
    if known.stage is None:
        return f"Not shown: {known.failure.not_run}"
    found = kept(known)
    return in_words(known, found) if found else "Not shown: not replayed since its file was changed."


def _counted() -> str:
    """Return how many failures there are, and how many were shown."""
    every = [load(name) for name in names()]
    shown = sum(1 for known in every if known.stage and (found := kept(known)) and found.shows(known))
    return f"{shown} of {len(every)}"


DOCUMENT_PARTS: dict[str, Callable[..., str]] = {"known_failures": _table, "known_failures_shown": _counted}
