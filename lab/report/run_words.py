"""Put the result of a judged run into words, for its page and for the terminal.

One sentence has the result of the tested claim, a few numbers add up to all requests, and each claim has its own result.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from app import locks
from lab.judge.fact import Code
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.language import Language
from lab.scenario import reader
from lab.story import say, verdict
from lab.text import thousands

FEW_KEPT = 10  # increments: with fewer, a figure for each increment means nothing
FEW_GRANTS = 200  # with fewer, the slowest hundredth is at most one grant


class Part(msgspec.Struct):
    """A part of the bar of all requests."""

    # its colour: the class of the page
    kind: str
    number: int
    words: str


@dataclass(frozen=True)
class Tested:
    """A claim on the page."""

    # whether it held; None if the run shows nothing
    held: bool | None
    promise: str
    promised: bool
    # the observed facts, without lost increments
    seen: str


class RunWords:
    """The words of a judged run, in one language. grants: the number of grants; 0 for a run without a lock."""

    def __init__(self, judgement: Judgement, grants: int, language: Language) -> None:
        self.judgement, self.grants, self.language = judgement, grants, language

    def say(self, name: str, n: int = 1, **places: object) -> str:
        """Return a text of the page."""
        return say.text("page", name, self.language, n, **places)

    @property
    def statements(self) -> list[str]:
        """Return the title and the sentence below it: how many increments are gone or kept, and how the tested claim fared.

        A claim that broke without a loss comes first. A run that proves nothing has its title alone.
        """
        judgement = self.judgement
        if judgement.verdict is Verdict.VOID:
            return [self.say("title_void")]
        own_first = sorted(judgement.violations, key=lambda one: one.claim != judgement.claim)
        is_broken = judgement.verdict is Verdict.BROKEN
        broken = next((one for one in own_first if (one.breaks_promise if is_broken else one.claim == judgement.claim)), None)
        if broken is None:
            fared = say.claim(judgement.claim, "holds", self.language)
            fared = self.say("held_unpromised", what=fared) if judgement.verdict is Verdict.UNSEEN else fared
        elif broken.seen and broken.seen[0].code is Code.NOBODY_AFTER_FAULT:
            fared = self.say("stuck")
        else:
            fared = say.claim(broken.claim, "breaks", self.language)
        both = (self._number, fared) if broken is None or judgement.lost else (fared, self._number)
        first, *others = filter(None, both)
        return [self.say("title", stage=judgement.stage, what=first), *(say.as_sentence(one, self.language) for one in others)]

    @property
    def _number(self) -> str:
        """Return how many increments are gone or kept; empty if the counter could not be read."""
        judgement, written = self.judgement, self.written
        if judgement.final is None:
            return ""
        asked, more = judgement.requests - judgement.sold_out, judgement.duplicated
        one_each = "some_gone" if judgement.lost else "all_kept" if written == asked else "some_kept"
        name = ("writes_gone" if judgement.lost else "writes_kept") if more else one_each
        figures = {"lost": judgement.lost, "written": written, "asked": asked, "more": more}
        return self.say(name, written, **{each: thousands(figure) for each, figure in figures.items()})

    @property
    def written(self) -> int:
        """Return how many writes the bar has, including writes that no answer confirmed."""
        return max(self.judgement.writes, self.judgement.acknowledged + self.judgement.duplicated)

    def parts(self) -> Iterator[Part]:
        """Yield the parts of the bar: writes that are in the counter, lost writes, and requests without a write."""
        judgement, written = self.judgement, self.written
        unclear = written - judgement.acknowledged - judgement.duplicated
        if judgement.final is None:
            yield self._part("unread", "unknown", written)
        else:
            yield self._part("kept", "kept", written - judgement.lost)
            for place, (mechanism, number) in enumerate(judgement.lost_by.items()):
                yield self._part("gone", f"lost tint-{place % 4}", number, cause=say.mechanism(mechanism, self.language))
        yield self._part("sold_out", "sold-out", judgement.sold_out)
        yield self._part("refused", "refused", judgement.failed - max(0, unclear - judgement.unknown))
        yield self._part("unknown", "unknown", judgement.unknown - min(unclear, judgement.unknown))

    def _part(self, name: str, kind: str, number: int, **places: str) -> Part:
        return Part(kind, number, self.say(name, number, shown=thousands(number), **places))

    def tested(self) -> Iterator[Tested]:
        """Yield the claim under test, and before it each promise that was broken."""
        judgement = self.judgement
        broken = {one.claim: one for one in judgement.violations}
        shows = judgement.verdict is not Verdict.VOID
        others = [one for one in judgement.violations if one.breaks_promise and one.claim != judgement.claim]
        for one in others if shows else ():
            yield Tested(False, verdict.promise(one.claim, self.language), one.claimed, self._seen(one))
        own = broken.get(judgement.claim) if shows else None
        promise = verdict.promise(judgement.claim, self.language)
        yield Tested(own is None if shows else None, promise, judgement.claimed, self._seen(own) if own else "")

    def _seen(self, violation: Violation) -> str:
        """Return the observed facts in words, without the lost increments, which the bar shows."""
        facts = [fact for fact in violation.seen if fact.code is not Code.LOST]
        words = verdict.seen_facts(msgspec.structs.replace(violation, seen=facts), self.language)
        return say.as_sentence(words, self.language) if words else ""

    def claims(self) -> Iterator[str]:
        """Yield each claim of ``tested`` as a line of the terminal."""
        for one in self.tested():
            promised = self.say("promised" if one.promised else "not_promised")
            sign = "–" if one.held is None else "✓" if one.held else "✗"
            claim = self.say("claim_line", promise=one.promise, made=promised)
            yield " ".join(filter(None, (sign, claim, one.seen)))

    @property
    def reasons(self) -> str:
        """Return why a run proves nothing, or why nothing was broken; empty if claim and bar already say it."""
        if self.judgement.verdict in (Verdict.VOID, Verdict.UNSEEN):
            return say.as_sentence(verdict.why(self.judgement, self.language), self.language)
        return ""

    @property
    def also(self) -> str:
        return verdict.also_seen(self.judgement, self.language, self.judgement.lost_by)

    def price(self) -> Iterator[str]:
        """Yield the price of the lock: increments a second, processor time, waits, and commands for each increment."""
        judgement, waits = self.judgement, self.judgement.wait_ms
        if judgement.kept >= FEW_KEPT:
            yield self.say("per_s", shown=thousands(judgement.kept_per_s))
            if each_ms := judgement.processor_ms_per_increment:
                yield self.say("processor", ms=amount(each_ms))
        if self.grants:
            shown = {"p50": amount(waits["p50"]), "p99": amount(waits["p99"]), "longest": amount(waits["max"])}
            yield self.say("waits_few" if self.grants < FEW_GRANTS else "waits", self.grants, **shown)
        if judgement.sent_per_increment and judgement.kept >= FEW_KEPT:
            yield self.say("commands", sent=judgement.sent_per_increment, run=judgement.commands_per_increment)


def amount(number: float) -> str:
    """Return a figure with few digits."""
    return thousands(number) if number >= 100 else f"{float(f'{number:.3g}'):g}"


def mender(judgement: Judgement) -> str | None:
    """Return the next stage that makes the broken promise, and that the scenario fits; None if nothing is broken.

    A stage that follows this one comes first. A stage is read only if the stages before it do not fit.
    """
    if judgement.verdict not in (Verdict.ADMITTED, Verdict.BROKEN) or judgement.stage not in (shelf := locks.names()):
        return None
    if judgement.scenario not in reader.names():
        return None
    scenario, near = reader.load(judgement.scenario), locks.followers(judgement.stage)
    later = sorted(shelf[shelf.index(judgement.stage) + 1 :], key=lambda name: name not in near)
    fit = (one.name for one in map(locks.stage, later) if scenario.tests in one.claims and scenario.misfit(one) is None)
    return next(fit, None)
