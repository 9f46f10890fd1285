"""Load judged runs for charts and pages: record and verdict, the name in a chart, and the rounds of a ladder."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import msgspec

from lab.evidence.record_lines import files_of, read_lines
from lab.evidence.run_folder import decode, replace
from lab.evidence.run_folder import load as load_record
from lab.evidence.run_record import RunRecord
from lab.judge.judgement import Judgement
from lab.language import Language
from lab.story import say
from lab.story.say import ENGLISH

KEPT = "runs.jsonl"  # the runs of a ladder
ROUNDS = "repeats.json"  # next to a ladder that ran several times: a line for each run


class Repeat(msgspec.Struct, kw_only=True):
    """The figures of one run of a round, for charts."""

    # the number of its round, from 1
    round: int = 1
    # the name of the run
    run: str
    stage: str
    replicas: int
    # the acknowledged requests, and how many of their increments are in the counter
    acknowledged: int
    kept: int
    duration_s: float

    @property
    def kept_per_s(self) -> float:
        return self.kept / self.duration_s if self.duration_s else 0.0


def repeat_of(judgement: Judgement, replicas: int, number: int = 1) -> Repeat:
    """Return the figures of a run, for charts. number: the number of its round."""
    repeat = msgspec.convert(judgement, Repeat, from_attributes=True)
    return msgspec.structs.replace(repeat, round=number, replicas=replicas)


class Result(msgspec.Struct, kw_only=True):
    """A judged run as charts and pages need it."""

    record: RunRecord
    judgement: Judgement
    # the run folder
    folder: Path
    # its name in a chart, if several runs there have the same stage; otherwise empty, and ``label`` makes a name
    given_label: str = ""
    # the runs of the same stage in a ladder of several rounds, this run included; empty for any other run
    rounds: list[Repeat] = []

    @property
    def repeats(self) -> list[Repeat]:
        """Return the runs that this result sums up: its rounds, or its own run."""
        return self.rounds or [repeat_of(self.judgement, self.record.scenario["replicas"])]

    @property
    def kept_per_s(self) -> float:
        """Return the increments kept a second: with several rounds their mean, as in all charts."""
        return fmean(repeat.kept_per_s for repeat in self.repeats)

    def label(self, language: Language = ENGLISH) -> str:
        """Return the given label, else the stage, with the number of replicas if it is not three."""
        if self.given_label:
            return self.given_label
        stage, replicas = self.judgement.stage, self.record.scenario["replicas"]
        if replicas == 3:
            return stage
        comma: str = say.words(language)["mark"]["comma"]
        return f"{stage}{comma}{say.text('conditions', 'replicas', language, replicas, shown=replicas)}"


FACTS = ("run.json", "verdict.json")  # the files of a run from which charts are drawn


def load(folder: Path) -> Result:
    """Return the result of a judged run folder. Raises BadInput, OSError or errors of msgspec."""
    return Result(record=load_record(folder), judgement=Judgement.load(folder), folder=folder)


def kept(path: Path) -> dict[str, Result]:
    """Return the runs that a file keeps (``record_lines``), by name. Raises BadInput or errors of msgspec."""
    results = {}
    for name, record in read_lines(path).items():
        run, verdict = (files_of(record)[fact] for fact in FACTS)
        results[name] = Result(record=decode(run, path), judgement=Judgement.decode(verdict), folder=path.parent / name)
    return results


def with_rounds(results: Sequence[Result], rounds: Sequence[Repeat]) -> list[Result]:
    """Give each result whose run is in the rounds of a ladder all runs of its stage in these rounds. Return the results."""
    known = {repeat.run: (repeat.stage, repeat.replicas) for repeat in rounds}
    for result in results:
        place = known.get(result.record.run)
        result.rounds = [repeat for repeat in rounds if (repeat.stage, repeat.replicas) == place]
    return list(results)


OF_USERS = ("users", "think_ms", "spawn_rate")
LOAD = ("own_load", "run_time", "requests", *OF_USERS, "rate", "connections", "replicas")


def load_in_words(conditions: Mapping[str, Any], names: Iterable[str] = LOAD, language: Language = ENGLISH) -> str:
    """Return the conditions of a run in words, without conditions that have no value; if it has a rate, also without OF_USERS."""
    known = [(name, conditions.get(name)) for name in names if not (name in OF_USERS and conditions.get("rate"))]
    comma: str = say.words(language)["mark"]["comma"]
    return comma.join(say.condition(name, value, language) for name, value in known if value)


def write_rounds(repeats: Sequence[Repeat], folder: Path) -> None:
    """Write ``repeats.json``, a line for each run."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = b",\n ".join(map(msgspec.json.encode, repeats))
    replace(folder / ROUNDS, b"[\n " + lines + b"\n]\n")


def rounds_in(folder: Path) -> list[Repeat]:
    """Return the runs of all rounds; none if the ladder ran once."""
    path = folder / ROUNDS
    return msgspec.json.decode(path.read_bytes(), type=list[Repeat]) if path.exists() else []
