"""What charts need of a run next to its verdict: its curves (``series.json``, small enough to be kept in git), and its label."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from itertools import accumulate
from pathlib import Path

import msgspec

from lab.evidence.loss import Mechanism
from lab.evidence.run_folder import RunRecord
from lab.evidence.run_folder import load as load_record
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.findings import BIN_NS, Findings
from lab.judge.judgement import Judgement
from lab.judge.losses import net_losses
from lab.language.choice import Language
from lab.language.phrases import quoted
from lab.report.repeats import Repeat, of
from lab.report.statistics import mean
from lab.scenario.options import OPTIONS, Label
from lab.story import say
from lab.story.say import ENGLISH

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


class Cause(msgspec.Struct):
    """A mechanism of loss, and its gross figures."""

    mechanism: Mechanism
    # how many increments its writes overwrote
    destroyed: int
    # how many of them its later writes brought back, because they had read before
    restored: int = 0
    # writes that overwrote increments
    writes: int = 0


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
    # the causes of lost increments
    causes: list[Cause] = []


class Result(msgspec.Struct, kw_only=True):
    """A judged run as charts and pages need it."""

    record: RunRecord
    judgement: Judgement
    # the curves
    series: Series
    # the run folder
    folder: Path
    # its label among other runs that would have the same one (``lab/report/run_data.py``); empty for a single run
    given_label: str = ""
    # the runs of the same stage in a ladder of several rounds, this run included; empty for any other run
    rounds: list[Repeat] = []

    @property
    def repeats(self) -> list[Repeat]:
        """Return the runs for which this result stands: its rounds, or itself alone."""
        return self.rounds or [of(self.judgement, self.record.scenario["replicas"])]

    @property
    def kept_per_s(self) -> float:
        """Return the increments kept a second: the mean of the rounds where there are several, as in all charts."""
        return mean([one.kept_per_s for one in self.repeats]).value

    @property
    def net(self) -> dict[Mechanism, int]:
        """Return how many of the lost increments each mechanism took, largest first; the shares add up to what was lost."""
        return net_losses(self.judgement.lost, {cause.mechanism: cause for cause in self.series.causes})

    @property
    def label(self) -> str:
        """Return the given label, else the stage, with the number of replicas if it is not three."""
        if self.given_label:
            return self.given_label
        return self.named()

    def named(self, language: Language = ENGLISH) -> str:
        """Return the stage, with the number of replicas if it is not three."""
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
        causes=[Cause(name, losses.destroyed, losses.restored, losses.writes) for name, losses in findings.losses.items()],
    )


class AccountLine(msgspec.Struct):
    """A mechanism in the exact account."""

    mechanism: Mechanism
    # how many writes overwrote increments; None if that is not on record
    writes: int | None
    # how many increments its writes overwrote; None if that is not on record
    overwritten: int | None
    # how many of them its later writes brought back
    brought_back: int | None
    # overwritten less brought back; below zero if its writes brought back what other mechanisms had overwritten
    net: int


def account(result: Result) -> list[AccountLine]:
    """Return the exact account; the nets add up to the number of lost increments."""
    lines = [
        AccountLine(cause.mechanism, cause.writes or None, cause.destroyed, cause.restored, cause.destroyed - cause.restored)
        for cause in sorted(result.series.causes, key=lambda cause: -cause.destroyed)
    ]
    rest = result.judgement.lost - sum(line.net for line in lines)
    return lines + ([AccountLine(Mechanism.WRITE_UNCONFIRMED, None, None, None, rest)] if rest else [])


def rates(curves: Series, steps: int) -> tuple[list[float], list[float]]:
    """Return the edges of about so many time steps in seconds, and the acknowledged requests per second in each step."""
    times, totals = [0.0, *curves.time_s], [0, *curves.acknowledged]
    every = max(1, len(times) // steps)
    times, totals = times[::every], totals[::every]
    return times, [(b - a) / (until - since) for a, b, since, until in zip(totals, totals[1:], times, times[1:], strict=False)]


def load(folder: Path) -> Result:
    """Return the result of a judged run folder. Raises BadInput, OSError or errors of msgspec."""
    return Result(
        record=load_record(folder),
        judgement=Judgement.load(folder),
        series=msgspec.json.decode((folder / "series.json").read_bytes(), type=Series),
        folder=folder,
    )


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
MOMENTS = (slice(11, 19), slice(0, 19), slice(0, 23))  # of a time in ISO 8601: the time, with the day, with milliseconds


def labels() -> dict[str, Label]:
    """Return how a label writes each parameter: the scenario, and every option."""
    return {"scenario": Label("{}", none="no scenario")} | {option.name: option.label for option in OPTIONS.values()}


def parameter(result: Result, name: str) -> object:
    """Return the value of a parameter; None where the run has none. At a rate there are no users that wait for answers."""
    scenario = result.record.scenario
    if name == "scenario":
        return scenario["name"]
    if name == "ttl_ms":
        return result.record.stage["ttl_ms"]
    if name == "users" and scenario.get("rate"):
        return None
    return scenario.get(name)


def differing(results: Sequence[Result]) -> list[str]:
    """Return the parameters in which the results differ."""
    return [name for name in labels() if len({parameter(one, name) for one in results}) > 1]


def with_labels(results: Sequence[Result], language: Language = ENGLISH) -> list[Result]:
    """Return the same results, in the same order, each with a label of its own.

    The label is the stage. Runs with the same stage also get the parameters in which they differ. Runs that do not differ get the
    time at which they began.
    """
    groups: dict[str, list[Result]] = defaultdict(list)
    for result in results:
        groups[result.named()].append(result)
    named = {
        result.record.run: label
        for alike in groups.values()
        for result, label in zip(alike, _labels(alike, language), strict=True)
    }
    return [msgspec.structs.replace(result, given_label=named[result.record.run]) for result in results]


def _labels(alike: Sequence[Result], language: Language) -> list[str]:
    if len(alike) == 1:
        return [alike[0].named(language)]
    names = differing(alike)
    comma: str = say.words(language)["mark"]["comma"]
    words = {name: Label(*(quoted("label", part, language) for part in label)) for name, label in labels().items()}
    found = [comma.join([one.named(language), *(words[name].text(parameter(one, name)) for name in names)]) for one in alike]
    if len(set(found)) == len(found):
        return found
    twice = Counter(found)
    moment = _moment(alike)
    return [f"{label}{comma}{moment(one)}" if twice[label] > 1 else label for label, one in zip(found, alike, strict=True)]


def _moment(alike: Sequence[Result]) -> Callable[[Result], str]:
    """Return what writes the time of each run, as exactly as needed. Runs of one millisecond get the name of their folder."""
    for part in MOMENTS:
        if len({one.record.started_utc[part] for one in alike}) == len(alike):
            return lambda one: one.record.started_utc[part].replace("T", " ")
    return lambda one: one.record.run
