"""Write the lines that ``lab explore`` prints: the searches, the verdict with a line for each promise, and the next commands.

The story of a broken promise comes before the verdict, so the screen ends with the verdict and the next commands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from app.lock import Claim, Stage
from app.locks import stages
from lab.explore.code.program import servers_of
from lab.explore.commands.shortest import Shortest
from lab.explore.decision import BREAKS, HOLDS, NOT_ASKED, OPEN, Decision, SearchOutcome, Undecided
from lab.explore.questions import Question, decidable
from lab.explore.schedule import replay
from lab.explore.search.search import Broken
from lab.explore.story.happenings import of_finding
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
COLUMN = 9  # in which a claim begins
# The defects that a stage of the ladder mends in the stage before it: mechanisms of the judge, and codes of schedules. A promise
# that breaks in many ways, such as `exclusive`, is not among them.
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
        """Yield the verdict, a line for each promise, and the claims that break and were not promised."""
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
        """Yield lines with the searches that were decided, and with the conditions that were not searched."""
        yield from wrapped(self._decided(), WIDTH)
        yield from wrapped(self._not_looked_at(), WIDTH)

    def next_commands(self, promised: Sequence[Shortest]) -> Iterator[str]:
        """Yield the commands to type next, after an empty line; nothing if no claim breaks."""
        stage, commands = self.decision.stage, []
        for schedule in promised[:1]:
            mends = mended_by(stage, schedule.claim, schedule.code)
            if mends:
                commands.append(self._say("mends", stage=mends, command=f"{COMMAND} diff {stage.lookup} {mends}"))
            commands.append(self._say("play", command=f"{COMMAND} play {stage.lookup}"))
        others = [claim for claim in self.decision.broken() if claim not in {schedule.claim for schedule in promised}]
        if others and self.decision.only is None:
            commands.append(self._say("show", claim=others[0].name))
        yield from ["", *commands] if commands else ()

    def again(self, question: Question, broken: Broken) -> str:
        """Return the command that runs a schedule again."""
        stage, number = self.decision.stage, self.decision.servers
        command = replay(stage.lookup, question, broken.events).removeprefix("lab ")
        servers = f" --servers {number}" if number != servers_of(stage) else ""
        return self._say("again", command=f"{COMMAND} {command}{servers}")

    def _say(self, name: str, n: int = 1, **places: object) -> str:
        return say.text("explored", name, self.language, n, **places)

    @property
    def _is_any_decided(self) -> bool:
        return any(answer.is_decided for answer in self.decision.answers)

    def promise(self, claim: Claim, status: str) -> Styled:
        """Return the line of a promise."""
        match status:
            case "breaks":
                return self._line("breaks", claim, "breaks", self._breaks(claim)), "red"
            case "holds":
                return self._line("holds", claim), "green"
            case "not_decided":
                return self._line("open", claim, detail=self._say("open_because", why=self._why_not(claim))), "yellow"
            case _:
                scenario = instead(claim, self.decision.stage, self.language)
                return self._line("unknown", claim, detail=self._say("not_looked_at", instead=scenario)), "dim"

    def _headline(self, status: dict[Claim, str]) -> Styled:
        decision, name = self.decision, self.decision.stage.name
        numbers = {name: [*status.values()].count(name) for name in ORDER}
        if numbers[BREAKS] and decision.only is not None and decision.only not in decision.stage.claims:
            return self._say("breaks_unpromised", stage=name, claim=decision.only.name), "bold"
        if numbers[BREAKS]:
            return self._say("breaks", numbers[BREAKS], stage=name), "bold red"
        if not self._is_any_decided and (numbers[OPEN] or not numbers[HOLDS]):
            first = next((answer for answer in decision.answers if answer.undecided not in OF_THE_BUDGET), decision.answers[0])
            return self._say("nothing", stage=name, why=_reason(first.undecided, first.detail, self.language)), "bold yellow"
        if numbers[OPEN] or not numbers[HOLDS]:
            return self._say("open", numbers[OPEN], stage=name), "bold yellow"
        more = self._say("more", numbers[NOT_ASKED]) if numbers[NOT_ASKED] else ""
        return self._say("keeps", numbers[HOLDS], stage=name, more=more), "bold green"

    def _line(self, sign: str, claim: Claim, form: str = "holds", detail: str = "") -> str:
        """Return a claim in words, with its name for ``--claim``, and a detail."""
        colon = say.words(self.language)["mark"]["colon"] if detail else ""
        text = f"{say.claim(claim.name, form, self.language)} ({claim.name}){colon}{detail}"
        label = say.text("explored_sign", sign, self.language)
        begins = f"  {label}{' ' * (COLUMN - 2 - letters_of(label))}"
        return begins + f"\n{' ' * COLUMN}".join(wrapped(text, WIDTH - COLUMN))

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
        """Return why a claim is not decided: the searches that are missing, or that they broke mutual exclusion before."""
        missing = self.decision.missing(claim)
        return self._say("no_owner") if any(answer.is_decided for answer in missing) else self._open_with(missing)

    def _open_with(self, missing: Sequence[SearchOutcome]) -> str:
        """Return the conditions of the first of these searches, and how many others there are."""
        searches = list(dict.fromkeys(map(self._conditions, missing)))
        return self._say("and_others", len(searches) - 1, first=searches[0]) if searches[1:] else searches[0]

    def _open(self) -> Iterator[str]:
        """Yield why searches are not decided, each reason once. Searches that no promise needs may lack time."""
        by_reason: dict[str, list[SearchOutcome]] = {}
        for answer in self.decision.answers:
            if answer.undecided is not None and (answer.question.needed or answer.undecided not in OF_THE_BUDGET):
                by_reason.setdefault(_reason(answer.undecided, answer.detail, self.language), []).append(answer)
        for reason, answers in by_reason.items() if self._is_any_decided or len(by_reason) > 1 else ():
            text = self._say("not_decided", searches=self._open_with(answers), why=reason)
            yield "\n" + "\n".join(wrapped(text, WIDTH))

    def _decided(self) -> str:
        decision = self.decision
        done = [answer.result for answer in decision.answers if answer.is_decided and answer.result is not None]
        schedules = sum(result.schedules for result in done) if decision.servers == 1 else 0
        return self._say(
            "decided",
            len(decision.answers),
            done=len(done),
            schedules=self._say("schedules", schedules, shown=thousands(schedules)) if schedules else "",
            redis=self._say("redis", version=decision.redis),
        )

    def _not_looked_at(self) -> str:
        decision = self.decision
        clients = {answer.question.replicas for answer in decision.answers}
        parts = [self._say("more_clients", number=in_words(max(clients), self.language))]
        left = [answer for answer in decision.answers if not answer.is_decided and not answer.question.needed]
        if left and self._is_any_decided:
            parts.append(self._say("no_time", len(left)))
        parts += [self._say("other_faults")]
        part = say.words(self.language)["mark"]["part"]
        if any("token" not in values for values in decision.drawn.values()):
            drawn = part.join(f"{line} {values}" for line, values in decision.drawn.items() if values != "token")
            parts.append(self._say("other_numbers", drawn=drawn))
        return self._say("left", what=part.join(parts))


def _reason(why: Undecided | None, detail: str, language: Language) -> str:
    text = say.text("undecided", why, language, about=detail) if why is not None else ""
    return text if why in OF_THE_BUDGET or not detail else f"{text}{say.words(language)['mark']['colon']}{detail}"


def reasons(decision: Decision, language: Language) -> str:
    """Return why promises are not decided: each reason once, after the names of its promises."""
    claims: dict[str, list[str]] = {}
    for claim in decision.of_status(OPEN):
        why = [(answer.undecided, answer.detail) for answer in decision.missing(claim) if answer.undecided]
        first, detail = next((reason for reason in why if reason[0] not in OF_THE_BUDGET), why[0] if why else (None, ""))
        claims.setdefault(_reason(first, detail, language) or say.text("explored", "no_owner", language), []).append(claim.name)
    return "; ".join(f"{', '.join(names)}: {why}" for why, names in claims.items())


def instead(claim: Claim, stage: Stage, language: Language = ENGLISH) -> str:
    """Return the command of a scenario that tests a claim, for a claim that no search tests."""
    fits = (scenario.name for scenario in _scenarios() if scenario.tests is claim and scenario.misfit(stage) is None)
    return next((f"lab run {name}" for name in fits), say.text("explored", "nowhere", language))


@cache
def _scenarios() -> list[Scenario]:
    return [reader.load(name) for name in reader.names()]


def mended_by(stage: Stage, claim: Claim, code: str) -> str:
    """Return the stage of the ladder that mends a broken promise; empty if none is known. code: of the mechanism or schedule.

    The returned stage makes the promise, and the stage before it does not. Among several, it shares most promises with the lock.
    """
    shelf = stages()
    gain = (other for other in shelf.values() if other.follows and claim in other.claims - shelf[other.follows].claims)
    promises = {other.name: len(other.claims & stage.claims) for other in gain if code in MENDED and other.store == stage.store}
    return max(promises, key=lambda name: promises[name], default="")
