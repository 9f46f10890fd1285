"""The page of one run in a language: what the tested claim came to, all requests, the loss step by step, and where to go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from lab.evidence.loss import Loss
from lab.judge.fact import Code
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.language.choice import Language
from lab.language.phrases import quoted
from lab.paths import COMMAND
from lab.report.account import LossAccount
from lab.report.chart import LINES
from lab.report.going_on import chapter, level, mender
from lab.report.run_data import Result
from lab.story import say, verdict
from lab.text import thousands

FEW_KEPT = 10  # increments: with fewer, a figure for each of them says nothing
FEW_GRANTS = 200  # with fewer, one in a hundred is none or one
OF_STORE = {  # what takes part only where the lock is in this store
    "mariadbd": "mysql",
    "pymysql": "mysql",
    "sqlalchemy": "mysql",
    "postgres": "postgresql",
    "psycopg": "postgresql",
    "etcd": "etcd",
    "etcd3gw": "etcd",
    "zookeeper": "zookeeper",
    "kazoo": "zookeeper",
}
LOAD = ("requests", "users", "rate", "connections", "replicas", "work_ms", "retry_ms", "wait_ms", "stock", "processes")


class Part(msgspec.Struct):
    """A part of the bar of all requests."""

    # its colour: the class of the page
    kind: str
    number: int
    words: str


@dataclass(frozen=True)
class Way:
    """Where a reader goes on."""

    words: str
    # None where there is no page of it
    address: str | None
    # whether it is a file outside the folder of the reports, which a server of the reports does not have
    outside: bool = False
    command: str = ""


@dataclass(frozen=True)
class Tested:
    """A claim on the page."""

    # whether it held; None where the run shows nothing
    held: bool | None
    promise: str
    promised: bool
    # what was seen outside what is lost
    seen: str


class RunPage:
    """What the page says, in one language."""

    def __init__(self, result: Result, grants: int, language: Language) -> None:
        self.result, self.judgement, self.grants, self.language = result, result.judgement, grants, language

    def say(self, name: str, n: int = 1, **places: object) -> str:
        """Return a text of the page."""
        return say.text("page", name, self.language, n, **places)

    @property
    def title(self) -> str:
        """Return what the tested claim came to, as a sentence."""
        return title(self.judgement, self.language)

    def parts(self, lost_by: LossAccount) -> Iterator[Part]:
        """Yield the parts of the bar: writes that are in the counter, those that are gone, and requests without a write."""
        judgement = self.judgement
        unclear = max(0, judgement.writes - judgement.acknowledged - judgement.duplicated)
        written = judgement.acknowledged + judgement.duplicated + unclear
        if judgement.final is None:
            yield self._part("unread", "unknown", written)
        else:
            yield self._part("kept", "kept", written - judgement.lost)
            for place, (mechanism, number) in enumerate(lost_by.split.items()):
                yield self._part("gone", f"lost tint-{place % 4}", number, cause=say.mechanism(mechanism, self.language))
        yield self._part("sold_out", "sold-out", judgement.sold_out)
        yield self._part("refused", "refused", judgement.failed - max(0, unclear - judgement.unknown))
        yield self._part("unknown", "unknown", judgement.unknown - min(unclear, judgement.unknown))

    def _part(self, name: str, kind: str, number: int, **places: str) -> Part:
        return Part(kind, number, self.say(name, number, shown=thousands(number), **places))

    @property
    def bar(self) -> str:
        """Return what the bar is of."""
        again = self.judgement.duplicated
        return self.say("bar_writes" if again else "bar", again)

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

    def _seen(self, one: Violation) -> str:
        """Return what was seen, without what the bar has: how many increments are lost, and why."""
        facts = [fact for fact in one.seen if fact.code is not Code.LOST]
        words = verdict.seen(msgspec.structs.replace(one, seen=facts), self.language)
        return say.ended(words, self.language) if words else ""

    @property
    def reasons(self) -> str:
        """Return why a run proves nothing, or why nothing was broken; empty for a run whose claim and bar say it."""
        if self.judgement.verdict in (Verdict.VOID, Verdict.UNSEEN):
            return say.ended(verdict.why(self.judgement, self.language), self.language)
        return ""

    @property
    def also(self) -> str:
        return verdict.also_seen(self.judgement, self.language, self.judgement.lost_by)

    @property
    def missing(self) -> str:
        """Return how the last line of the exact account is named."""
        judgement = self.judgement
        if judgement.final is None:
            return self.say("missing_unread")
        return self.say("missing", writes=thousands(judgement.writes), final=thousands(judgement.final))

    def price(self, is_locked: bool) -> Iterator[str]:
        """Yield what the lock cost: how fast the run was, how long requests waited, how many commands it took."""
        judgement, waits = self.judgement, self.judgement.wait_ms
        if judgement.kept >= FEW_KEPT:
            yield self.say("per_s", shown=thousands(judgement.kept_per_s))
        if is_locked and self.grants:
            shown = {"p50": amount(waits["p50"]), "p99": amount(waits["p99"]), "longest": amount(waits["max"])}
            yield self.say("waits_few" if self.grants < FEW_GRANTS else "waits", self.grants, **shown)
        if judgement.sent_per_increment and judgement.kept >= FEW_KEPT:
            yield self.say("commands", sent=judgement.sent_per_increment, run=judgement.commands_per_increment)

    def losses(self, violation: Violation) -> Iterator[str]:
        """Yield the examples of lost increments."""
        for one in violation.evidence:
            if isinstance(one, Loss):
                culprit = one.culprit
                yield self.say(
                    "loss",
                    one.destroyed,
                    culprit=culprit.request,
                    place=culprit.replica,
                    read=culprit.read,
                    wrote=culprit.wrote,
                    over=culprit.overwrote,
                )

    def conditions(self) -> Iterator[tuple[str, str]]:
        """Yield the conditions of the run: a name, and what it was."""
        record, scenario = self.result.record, self.result.record.scenario
        comma: str = say.words(self.language)["mark"]["comma"]
        yield self.say("run"), self.say("run_of", run=record.run, commit=record.commit or "–")
        yield self.say("scenario"), quoted("title", scenario["title"], self.language)
        yield self.say("load"), comma.join(self._load(scenario))
        for fault in scenario.get("faults") or ():
            name = "fault_lasting" if fault.get("for_ms") else "fault"
            kind = say.fault(fault["kind"], self.language)
            yield self.say("faults"), self.say(name, kind=kind, at=fault["at"], ms=thousands(fault.get("for_ms") or 0))
        for name, measure in self.judgement.danger.items():
            of = verdict.measure(name, self.language)
            yield self.say("danger"), self.say("measure", what=of, seen=thousands(measure.seen), needed=thousands(measure.needed))
        yield from ((self.say("note"), note) for note in scenario.get("notes", ()))
        yield self.say("programs"), ", ".join(self._programs())
        yield self.say("machine"), ", ".join(f"{name} {value}" for name, value in record.machine.items())
        used = {name: options for name, options in record.client_options.items() if name in ("redis", record.stage["store"])}
        for store, options in used.items():
            yield self.say("client"), f"{store}: {', '.join(f'{name} {value}' for name, value in options.items())}"

    def _load(self, scenario: dict[str, Any]) -> Iterator[str]:
        left_out = {"users"} if scenario.get("rate") else set()
        values = {name: scenario.get(name) for name in LOAD if name not in left_out} | {
            "ttl_ms": self.result.record.stage["ttl_ms"]
        }
        values["processes"] = None if values["processes"] == 1 else values["processes"]
        values["lock_servers"] = self.result.record.lock_servers
        for name, value in values.items():
            if value:
                shown = thousands(value) if isinstance(value, int) else value
                yield say.text("conditions", name, self.language, int(value), shown=shown)

    def _programs(self) -> Iterator[str]:
        """Yield the programs that took part: none of a store that the lock is not in."""
        store = self.result.record.stage["store"]
        for package, version in self.result.record.versions.items():
            name = package.removesuffix(" (package)")
            if OF_STORE.get(name, store) == store:
                yield f"{name} {version.partition(' sha=')[0]}"

    def goes_on(self) -> Iterator[Way]:
        """Yield where a reader goes on."""
        judgement, reports = self.judgement, self.result.folder.parent.parent
        if (address := level(reports, judgement, self.language)) is not None:
            yield Way(self.say("play"), address)
        if (address := chapter(reports, judgement.stage, self.language)) is not None:
            yield Way(self.say("chapter", stage=judgement.stage), address, outside=True)
        if (stage := mender(judgement)) is not None:
            again = f"{COMMAND} run {judgement.scenario} --stage {stage}"
            yield Way(self.say("mended_by", stage=stage), chapter(reports, stage, self.language), True, again)
        yield Way(self.say("run_again"), None, command=f"{COMMAND} {self.result.record.command.removeprefix('lab ')}")


def title(judgement: Judgement, language: Language) -> str:
    """Return what the claim under test came to, as a sentence about the stage."""
    if judgement.verdict is Verdict.VOID:
        return say.text("page", "title_void", language)
    broken = next(
        (one for one in sorted(judgement.violations, key=lambda one: one.claim != judgement.claim) if _counts(one, judgement)),
        None,
    )
    if broken is None:
        name = (
            "title_not_promised"
            if judgement.verdict is Verdict.UNSEEN
            else "title_otherwise"
            if judgement.lost_otherwise
            else "title"
        )
        what = say.claim(judgement.claim, "holds", language)
        return say.text("page", name, language, judgement.lost_otherwise or 1, stage=judgement.stage, what=what)
    if broken.seen and broken.seen[0].code is Code.NOBODY_AFTER_FAULT:
        return say.text("page", "title_stuck", language, stage=judgement.stage)
    return say.text("page", "title", language, stage=judgement.stage, what=say.claim(broken.claim, "breaks", language))


def _counts(one: Violation, judgement: Judgement) -> bool:
    """Return whether a broken claim is what the verdict is about."""
    return one.breaks_promise if judgement.verdict is Verdict.BROKEN else one.claim == judgement.claim


def amount(number: float) -> str:
    """Return a figure with few digits."""
    return thousands(number) if number >= 100 else f"{number:.3g}"


def curves_of_run(result: Result, grants: int, language: Language) -> str:
    """Return the curves of a run for the script of its page, with the words of their charts. grants: 0 without a lock."""
    judgement, series = result.judgement, result.series
    run = {
        "label": judgement.stage,
        "lost": judgement.lost,
        "final": judgement.final,
        "acknowledged_of": judgement.acknowledged,
        "per_s": judgement.kept_per_s,
        "grants": grants,
        "colour": LINES[0],
        "dashes": "",
        "faults": [msgspec.structs.replace(one, kind=say.fault(one.kind, language)) for one in series.faults],
        "wait_ms": series.wait_ms if grants else [],
        "wait_share": series.wait_share if grants else [],
        **{name: getattr(series, name) for name in ("time_s", "acknowledged", "unknown", "value")},
    }
    return msgspec.json.encode({"run": run, "words": say.words(language)["curves"]}).decode().replace("<", "\\u003c")
