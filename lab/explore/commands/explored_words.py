"""What ``lab explore`` prints: what was searched; the verdict, a line a promise, and what can happen though it was not promised;
what to type next. The story of a broken promise stands before the verdict: the screen ends with the verdict and the next command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from app.lock import Claim, Stage
from app.locks import stages
from lab.explore.commands.shortest import Shortest
from lab.explore.decision import BREAKS, HOLDS, NOT_ASKED, OPEN, Decision, SearchOutcome, Undecided
from lab.explore.questions import Question, decidable
from lab.explore.schedule import replay
from lab.explore.search.search import Broken
from lab.explore.story.deeds import of_finding
from lab.language import Language
from lab.paths import COMMAND
from lab.scenario import reader
from lab.scenario.scenario import Scenario
from lab.story import say
from lab.story.say import ENGLISH
from lab.story.searches import conditions, in_words
from lab.text import WIDTH, letters_of, thousands, wrapped

Styled = tuple[str, str]
ORDER = BREAKS, OPEN, HOLDS, NOT_ASKED
OF_THE_BUDGET = Undecided.TIME, Undecided.STARVED, Undecided.INTERRUPTED, Undecided.MEMORY
COLUMN = 9  # where a claim begins
# What a stage of the ladder mends in the one before it: mechanisms of the judge, and codes of schedules. A promise that breaks in
# many ways, such as `exclusive`, has none here.
MENDED = (
    *("no_ttl", "work_failed", "robbed", "deleted_by_another", "robbed_in_release", "expired_between_check_and_delete"),
    *("expired", "ttl_over_in_work", "waited_for_itself", "waiters_slept", "no_queue_in_replica", "no_queue"),
)


@dataclass
class ExploredWords:
    """The words of a decision, in a language."""

    decision: Decision
    language: Language = ENGLISH

    def verdict(self) -> Iterator[Styled]:
        """Yield the verdict, a line for each promise, and what can happen and was not promised."""
        decision = self.decision
        broken, status = decision.broken(), decision.promises()
        yield "", ""
        yield self._headline(status)
        if broken or self._is_any_decided:
            left_out = [claim for claim in status if status[claim] == NOT_ASKED and claim in decidable(decision.servers)]
            for claim in sorted(status, key=lambda claim: ORDER.index(status[claim])):
                if claim not in left_out:
                    yield self.promise(claim, status[claim])
            if left_out:
                yield f"  {self._say('left_out', len(left_out))}", "dim"
        others = [claim for claim in broken if claim not in decision.claims and decision.only is None]
        if others:
            yield "", ""
            yield self._say("unpromised"), "bold"
            for claim in others:
                yield self._line("breaks", claim, "breaks", self._breaks(claim)), ""
        for line in self._open():
            yield line, "yellow"

    def searched(self) -> Iterator[str]:
        """Yield what was looked at and what was not."""
        yield from wrapped(self._decided(), WIDTH)
        yield from wrapped(self._not_looked_at(), WIDTH)

    def next_commands(self, promised: Sequence[Shortest]) -> Iterator[str]:
        """Yield what to type next, after an empty line; nothing where no claim breaks."""
        stage, found = self.decision.stage, []
        for one in promised[:1]:
            mends = mended_by(stage, one.claim, one.code)
            if mends:
                found.append(self._say("mends", stage=mends, command=f"{COMMAND} diff {stage.lookup} {mends}"))
            found.append(self._say("play", command=f"{COMMAND} play {stage.lookup}"))
        others = [claim for claim in self.decision.broken() if claim not in {one.claim for one in promised}]
        if others and self.decision.only is None:
            found.append(self._say("show", claim=others[0].name))
        yield from ["", *found] if found else ()

    def again(self, question: Question, broken: Broken) -> str:
        """Return the command that runs a schedule again."""
        command = replay(self.decision.stage.lookup, question, broken.events).removeprefix("lab ")
        servers = f" --servers {self.decision.of_servers}" if self.decision.of_servers else ""
        return self._say("again", command=f"{COMMAND} {command}{servers}")

    def _say(self, name: str, n: int = 1, **places: object) -> str:
        return say.text("explored", name, self.language, n, **places)

    @property
    def _is_any_decided(self) -> bool:
        return any(one.is_decided for one in self.decision.answers)

    def promise(self, claim: Claim, status: str) -> Styled:
        """Return the line of a promise."""
        match status:
            case "breaks":
                return self._line("breaks", claim, "breaks", self._breaks(claim)), "red"
            case "holds":
                return self._line("holds", claim), "green"
            case "not_decided":
                return self._line("open", claim, about=self._say("open_because", why=self._why_not(claim))), "yellow"
            case _:
                way = self._say("not_looked_at", instead=instead(claim, self.decision.stage, self.language))
                return self._line("unknown", claim, about=way), "dim"

    def _headline(self, status: dict[Claim, str]) -> Styled:
        decision, name = self.decision, self.decision.stage.name
        numbers = {what: sum(one == what for one in status.values()) for what in ORDER}
        if numbers[BREAKS] and decision.only is not None and decision.only not in decision.stage.claims:
            return self._say("breaks_unpromised", stage=name, claim=decision.only.name), "bold"
        if numbers[BREAKS]:
            return self._say("breaks", numbers[BREAKS], stage=name), "bold red"
        if not self._is_any_decided and (numbers[OPEN] or not numbers[HOLDS]):
            first = next((one for one in decision.answers if one.undecided not in OF_THE_BUDGET), decision.answers[0])
            return self._say("nothing", stage=name, why=_reason(first.undecided, first.detail, self.language)), "bold yellow"
        if numbers[OPEN] or not numbers[HOLDS]:
            return self._say("open", numbers[OPEN], stage=name), "bold yellow"
        more = self._say("more", numbers[NOT_ASKED]) if numbers[NOT_ASKED] else ""
        return self._say("keeps", numbers[HOLDS], stage=name, more=more), "bold green"

    def _line(self, sign: str, claim: Claim, form: str = "holds", about: str = "") -> str:
        """Return a claim in words, with its name for ``--claim``, and what was seen of it."""
        colon = say.words(self.language)["mark"]["colon"] if about else ""
        made = f"{say.claim(claim.name, form, self.language)} ({claim.name}){colon}{about}"
        shown = say.text("explored_sign", sign, self.language)
        begins = f"  {shown}{' ' * (COLUMN - 2 - letters_of(shown))}"
        return begins + f"\n{' ' * COLUMN}".join(wrapped(made, WIDTH - COLUMN))

    def _breaks(self, claim: Claim) -> str:
        answer, broken = self.decision.broken()[claim]
        return self._say(
            "broken_by",
            len(broken.events),
            conditions=self._conditions(answer),
            cause=say.cause(of_finding(broken.finding), self.language),
        )

    def _conditions(self, answer: SearchOutcome) -> str:
        return conditions(answer.question.as_fields(self.decision.ttl_ms), self.decision.ttl_ms, self.language)

    def _why_not(self, claim: Claim) -> str:
        """Return why searches do not decide a claim: which they are, or that they broke mutual exclusion before."""
        missing = self.decision.missing(claim)
        return self._say("no_owner") if any(one.is_decided for one in missing) else self._open_with(missing)

    def _open_with(self, missing: Sequence[SearchOutcome]) -> str:
        """Return which searches are not decided."""
        found = list(dict.fromkeys(map(self._conditions, missing)))
        return self._say("and_others", len(found) - 1, first=found[0]) if found[1:] else found[0]

    def _open(self) -> Iterator[str]:
        """Yield why searches are not decided, each reason once; but not where there was no time for what no promise needs."""
        by_reason: dict[str, list[SearchOutcome]] = {}
        for answer in self.decision.answers:
            if answer.undecided is not None and (answer.question.needed or answer.undecided not in OF_THE_BUDGET):
                by_reason.setdefault(_reason(answer.undecided, answer.detail, self.language), []).append(answer)
        for reason, answers in by_reason.items() if self._is_any_decided or len(by_reason) > 1 else ():
            made = self._say("not_decided", searches=self._open_with(answers), why=reason)
            yield "\n" + "\n".join(wrapped(made, WIDTH))

    def _decided(self) -> str:
        decision = self.decision
        done = [one.result for one in decision.answers if one.is_decided and one.result is not None]
        schedules = sum(one.schedules for one in done) if decision.servers == 1 else 0
        return self._say(
            "decided",
            len(decision.answers),
            done=len(done),
            schedules=self._say("schedules", schedules, shown=thousands(schedules)) if schedules else "",
            redis=self._say("redis", version=decision.redis),
        )

    def _not_looked_at(self) -> str:
        decision = self.decision
        asked = {one.question.replicas for one in decision.answers}
        parts = [self._say("more_clients", number=in_words(max(asked), self.language))]
        left = [one for one in decision.answers if not one.is_decided and not one.question.needed]
        if left and self._is_any_decided:
            parts.append(self._say("no_time", len(left)))
        parts += [self._say("other_faults")]
        part = say.words(self.language)["mark"]["part"]
        if any("token" not in what for what in decision.drawn.values()):
            drawn = part.join(f"{where} {what}" for where, what in decision.drawn.items() if what != "token")
            parts.append(self._say("other_numbers", drawn=drawn))
        return self._say("left", what=part.join(parts))


def _reason(why: Undecided | None, about: str, language: Language) -> str:
    made = say.text("undecided", why, language, about=about) if why is not None else ""
    return made if why in OF_THE_BUDGET or not about else f"{made}{say.words(language)['mark']['colon']}{about}"


def reasons(decision: Decision, language: Language) -> str:
    """Return why promises are not decided: each reason once, after the names of the promises."""
    found: dict[str, list[str]] = {}
    for claim in decision.of_status(OPEN):
        why = [(one.undecided, one.detail) for one in decision.missing(claim) if one.undecided]
        first, about = next((one for one in why if one[0] not in OF_THE_BUDGET), why[0] if why else (None, ""))
        found.setdefault(_reason(first, about, language) or say.text("explored", "no_owner", language), []).append(claim.name)
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in found.items())


def instead(claim: Claim, stage: Stage, language: Language = ENGLISH) -> str:
    """Return what decides a claim that no search looks at."""
    fits = (one.name for one in _scenarios() if one.tests is claim and one.misfit(stage) is None)
    return next((f"lab run {name}" for name in fits), say.text("explored", "nowhere", language))


@cache
def _scenarios() -> list[Scenario]:
    return [reader.load(name) for name in reader.names()]


def mended_by(stage: Stage, claim: Claim, code: str) -> str:
    """Return the stage of the ladder that mends this; empty if none is known. code: a mechanism, or that of a schedule.

    It keeps a promise that the stage before it does not make. Of several, it is the one with most of the promises of the lock.
    """
    shelf = stages()
    gain = (one for one in shelf.values() if one.follows and claim in one.claims - shelf[one.follows].claims)
    found = {one.name: len(one.claims & stage.claims) for one in gain if code in MENDED and one.store == stage.store}
    return max(found, key=lambda name: found[name], default="")
