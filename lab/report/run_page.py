"""The page of one run in a language: what the tested claim came to, all requests, the loss step by step, and where to go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

from lab.evidence.loss import Loss
from lab.judge.judgement import Violation
from lab.language.choice import Language
from lab.language.phrases import quoted
from lab.paths import COMMAND
from lab.report.chart import LINES
from lab.report.going_on import chapter, level, mender
from lab.report.run_data import Result
from lab.report.run_words import RunWords
from lab.story import say, verdict
from lab.text import thousands

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


@dataclass(frozen=True)
class Way:
    """Where a reader goes on."""

    words: str
    # None where there is no page of it
    address: str | None
    # whether it is a file outside the folder of the reports, which a server of the reports does not have
    outside: bool = False
    command: str = ""


class RunPage(RunWords):
    """What the page says, in one language."""

    def __init__(self, result: Result, grants: int, language: Language) -> None:
        super().__init__(result.judgement, grants, language)
        self.result = result

    @property
    def stage(self) -> str:
        """Return what the stage is, as a sentence; empty where the record of the run has none."""
        return quoted("stage", self.result.record.stage.get("title", ""), self.language).replace("`", "")

    @property
    def missing(self) -> str:
        """Return how the last line of the exact account is named."""
        judgement = self.judgement
        if judgement.final is None:
            return self.say("missing_unread")
        return self.say("missing", writes=thousands(judgement.writes), final=thousands(judgement.final))

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
        command = self.result.record.command.removeprefix("lab ").removesuffix(" --json")
        yield Way(self.say("run_again"), None, command=f"{COMMAND} {command}")


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
