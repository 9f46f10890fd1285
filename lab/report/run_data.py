"""What charts need of a run next to its verdict: its curves (``series.json``, small enough to be kept in git), and its label."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from statistics import fmean

import msgspec

from lab.evidence.run_folder import decode, replace
from lab.evidence.run_folder import load as load_record
from lab.evidence.run_record import RunRecord
from lab.judge.faults import FaultOutcome
from lab.judge.findings import BIN_NS, Findings
from lab.judge.judgement import Judgement
from lab.language import Language
from lab.scenario.options import OPTIONS
from lab.story import say
from lab.story.say import ENGLISH
from lab.story.verdict import headline

KEPT = "runs.jsonl"  # the runs of the reference ladder
ROUNDS = "repeats.json"  # next to a ladder that ran several times: a line for each run
POINTS = 200  # of a curve


class FaultBand(msgspec.Struct):
    """A fault outcome as the curves draw it. Times are seconds since the first request."""

    # the name of the fault's file
    kind: str
    # the replica whose request reached the failpoint
    replica: str
    # when the fault began
    from_s: float
    # when the recovery was complete
    until_s: float


class Series(msgspec.Struct, kw_only=True):
    """The curves of a run. Lists of the same curve are parallel."""

    # waits for the lock, in ascending order; empty where no request was granted a lock
    wait_ms: list[float]
    # the share of the grants that waited at most so long
    wait_share: list[float]
    # the moments of the curves below, in seconds since the first request
    time_s: list[float]
    # requests that were acknowledged so far
    acknowledged: list[int]
    # requests without an answer so far
    unknown: list[int]
    # the value of the counter
    value: list[int]
    # in the order of time
    faults: list[FaultBand] = []


class Repeat(msgspec.Struct, kw_only=True):
    """What charts need of one run of a round."""

    # the number of its round, from 1
    round: int
    # the name of the run
    run: str
    stage: str
    replicas: int
    verdict: str
    # acknowledged requests, and those of them that are in the counter
    acknowledged: int
    kept: int
    duration_s: float

    @property
    def acknowledged_per_s(self) -> float:
        return self.acknowledged / self.duration_s if self.duration_s else 0.0

    @property
    def kept_per_s(self) -> float:
        return self.kept / self.duration_s if self.duration_s else 0.0


def repeat_of(judgement: Judgement, replicas: int, number: int = 1) -> Repeat:
    """Return what charts need of a run, which is of this round."""
    return Repeat(
        round=number,
        run=judgement.run,
        stage=judgement.stage,
        replicas=replicas,
        verdict=headline(judgement),
        acknowledged=judgement.acknowledged,
        kept=judgement.kept,
        duration_s=judgement.duration_s,
    )


class Result(msgspec.Struct, kw_only=True):
    """A judged run as charts and pages need it."""

    record: RunRecord
    judgement: Judgement
    # the curves
    series: Series
    # the run folder
    folder: Path
    # its name in a chart, if others have the same stage; empty for what ``named`` returns
    given_label: str = ""
    # the runs of the same stage in a ladder of several rounds, this run included; empty for any other run
    rounds: list[Repeat] = []

    @property
    def repeats(self) -> list[Repeat]:
        """Return the runs for which this result stands: its rounds, or itself alone."""
        return self.rounds or [repeat_of(self.judgement, self.record.scenario["replicas"])]

    @property
    def kept_per_s(self) -> float:
        """Return the increments kept a second: the mean of the rounds where there are several, as in all charts."""
        return fmean(one.kept_per_s for one in self.repeats)

    def named(self, language: Language = ENGLISH) -> str:
        """Return the given label, else the stage, with the number of replicas if it is not three."""
        if self.given_label:
            return self.given_label
        stage, replicas = self.judgement.stage, self.record.scenario["replicas"]
        if replicas == 3:
            return stage
        comma: str = say.words(language)["mark"]["comma"]
        return f"{stage}{comma}{say.text('conditions', 'replicas', language, replicas, shown=replicas)}"


def series(findings: Findings) -> Series:
    """Return the curves of a run, with at most POINTS points each."""
    waits = sorted(findings.waits_ns) if findings.has_lock else []
    ranks = sorted({round(index * (len(waits) - 1) / (POINTS - 1)) for index in range(POINTS)}) if waits else []
    end = findings.end_ns // BIN_NS - findings.origin_ns // BIN_NS  # the last request may have failed, and then it is in no bin
    last = max([*findings.acknowledged_by_bin, *findings.unknown_by_bin, *findings.value_by_bin, end])
    step = max(1, -(-(last + 1) // POINTS))
    ends = range(step, last + step + 1, step)
    return Series(
        wait_ms=[round(waits[rank] / 1e6, 3) for rank in ranks],
        wait_share=[round((rank + 1) / len(waits), 5) for rank in ranks],
        time_s=[round(end * BIN_NS / 1e9, 3) for end in ends],
        acknowledged=_running_total(findings.acknowledged_by_bin, ends, step),
        unknown=_running_total(findings.unknown_by_bin, ends, step),
        value=_last_known(findings.value_by_bin, ends, step),
        faults=[_band(fault, findings.origin_ns) for fault in findings.faults],
    )


FACTS = ("run.json", "verdict.json", "series.json")  # the files of a run from which charts are drawn


def load(folder: Path) -> Result:
    """Return the result of a judged run folder. Raises BadInput, OSError or errors of msgspec."""
    return Result(
        record=load_record(folder),
        judgement=Judgement.load(folder),
        series=msgspec.json.decode((folder / "series.json").read_bytes(), type=Series),
        folder=folder,
    )


def kept(path: Path) -> dict[str, Result]:
    """Return the runs that a file keeps (``record_lines``), by name. Raises BadInput or errors of msgspec."""
    from lab.evidence.record_lines import files_of, read_lines  # here, because no run needs it

    found = {}
    for name, record in read_lines(path).items():
        run, verdict, series = (files_of(record)[fact] for fact in FACTS)
        curves = msgspec.json.decode(series, type=Series)
        found[name] = Result(
            record=decode(run, path), judgement=Judgement.decode(verdict), series=curves, folder=path.parent / name
        )
    return found


def with_rounds(results: Sequence[Result], rounds: Sequence[Repeat]) -> list[Result]:
    """Return the same results; those whose run is in the rounds of a ladder get all runs of their stage there."""
    known = {one.run: (one.stage, one.replicas) for one in rounds}
    for result in results:
        place = known.get(result.record.run)
        result.rounds = [one for one in rounds if (one.stage, one.replicas) == place]
    return list(results)


def _band(fault: FaultOutcome, origin_ns: int) -> FaultBand:
    record = fault.record
    from_s, until_s = ((at_ns - origin_ns) / 1e9 for at_ns in (record.at_ns, max(record.at_ns, record.recovered_ns)))
    return FaultBand(record.kind or record.name, record.replica, round(from_s, 3), round(until_s, 3))


def _running_total(by_bin: dict[int, int], ends: range, step: int) -> list[int]:
    return list(accumulate(sum(by_bin.get(index, 0) for index in range(end - step, end)) for end in ends))


def _last_known(by_bin: dict[int, int], ends: range, step: int) -> list[int]:
    values: list[int] = []
    for end in ends:
        known = [by_bin[index] for index in range(end - step, end) if index in by_bin]
        values.append(known[-1] if known else (values[-1] if values else 0))
    return values


NONE = "–"


PARAMETERS = ("scenario", "own_load", *OPTIONS)  # that the label of a run can name


def parameter(result: Result, name: str) -> object:
    """Return the value of a parameter; None where the run has none: of users at a rate, or of requests that a time ends."""
    scenario = result.record.scenario
    if name == "scenario":
        return scenario["name"]
    if name == "ttl_ms":
        return result.record.stage["ttl_ms"]
    if name == "users" and scenario.get("rate"):
        return None
    return scenario.get(name) or (None if name in ("own_load", "requests", "users") else scenario.get(name))


def write_rounds(repeats: Sequence[Repeat], folder: Path) -> Path:
    """Write ``repeats.json``, a line for each run. Return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = b",\n ".join(map(msgspec.json.encode, repeats))
    replace(folder / ROUNDS, b"[\n " + lines + b"\n]\n")
    return folder / ROUNDS


def rounds_in(folder: Path) -> list[Repeat]:
    """Return the runs of all rounds; none where the ladder ran once."""
    path = folder / ROUNDS
    return msgspec.json.decode(path.read_bytes(), type=list[Repeat]) if path.exists() else []


def speed_ratios(runs: Sequence[Repeat], base: Sequence[Repeat]) -> list[float]:
    """Return the increments kept a second, as ratios to those of the base: round by round where both ran in the same rounds."""
    others = {one.round: one for one in base}
    pairs = [(one, others.get(one.round, base[0])) for one in runs]
    return [one.kept_per_s / other.kept_per_s if other.kept_per_s else 0.0 for one, other in pairs]
