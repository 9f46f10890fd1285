"""What charts need of a run besides its verdict, small enough to be kept in git: ``series.json``."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path

import msgspec

from lab.evidence.run_folder import RunRecord
from lab.evidence.run_folder import load as load_record
from lab.judge.concurrency import BIN_NS, samples
from lab.judge.fault_outcome import FaultOutcome
from lab.judge.findings import Findings
from lab.judge.judgement import Judgement

POINTS = 200


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
    """A mechanism: how many increments it destroyed, and how many of them were brought back by writes that had read before."""

    mechanism: str
    destroyed: int
    restored: int = 0


class Taken(msgspec.Struct):
    """How many requests were where, as parallel lists: at a moment since the first request, how many waited for the lock, were
    inside it, and had been sent and not been answered. last_got_s: when the lock was granted for the last time.
    """

    at_s: list[float]
    waiting: list[int]
    inside: list[int]
    on_the_way: list[int]
    last_got_s: float


class Series(msgspec.Struct, kw_only=True):
    """Curves as parallel lists. wait_ms[i] is the wait that a share of wait_share[i] of the grants did not exceed.

    At time_s[i] since the first request: how many were acknowledged (and unknown) so far, and what the counter held.
    faults: in the order of time; the file has called them strikes from the beginning. causes: of lost increments.
    taken: None where no request waited for as long as one retry.
    """

    wait_ms: list[float]
    wait_share: list[float]
    time_s: list[float]
    acknowledged: list[int]
    unknown: list[int]
    value: list[int]
    faults: list[FaultBand] = msgspec.field(name="strikes", default_factory=list)
    causes: list[Cause] = []
    taken: Taken | None = None


class Result(msgspec.Struct, kw_only=True):
    """A judged run as charts and reports see it: its record, the judgement, the curves. folder: where it is.

    told: what it is called among others that its usual label would not tell it from (``lab/report/run_labels.py``); empty alone.
    """

    record: RunRecord
    judgement: Judgement
    series: Series
    folder: Path
    told: str = ""

    @property
    def label(self) -> str:
        """The stage, and what was not as usual about the run."""
        if self.told:
            return self.told
        replicas = self.record.scenario["replicas"]
        return self.judgement.stage if replicas == 3 else f"{self.judgement.stage}, {replicas} replica{'s' * (replicas > 1)}"


def series(findings: Findings) -> Series:
    """The curves of a run, thinned to POINTS."""
    waits = sorted(findings.waits_ns)
    ranks = sorted({round(index * (len(waits) - 1) / (POINTS - 1)) for index in range(POINTS)}) if waits else []
    end = findings.end_ns // BIN_NS - findings.origin_ns // BIN_NS  # the last to end may have been refused
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
        causes=[Cause(name, losses.destroyed, losses.restored) for name, losses in findings.losses.items() if losses.destroyed],
        taken=_taken(findings, last + 1, step) if findings.measures["waited"] or findings.gave_up else None,
    )


def rates(curves: Series, steps: int) -> tuple[list[float], list[float]]:
    """Acknowledged per second, thinned to about so many steps: the steps' edges in seconds, one more than there are speeds."""
    times, totals = [0.0, *curves.time_s], [0, *curves.acknowledged]
    every = max(1, len(times) // steps)
    times, totals = times[::every], totals[::every]
    return times, [(b - a) / (until - since) for a, b, since, until in zip(totals, totals[1:], times, times[1:], strict=False)]


def load(folder: Path) -> Result:
    """A run folder that has been judged and has its series. Raises BadInput, OSError or msgspec's errors."""
    return Result(
        record=load_record(folder),
        judgement=Judgement.load(folder),
        series=msgspec.json.decode((folder / "series.json").read_bytes(), type=Series),
        folder=folder,
    )


def _band(fault: FaultOutcome, origin_ns: int) -> FaultBand:
    record = fault.record
    from_s, until_s = ((at_ns - origin_ns) / 1e9 for at_ns in (record.at_ns, max(record.at_ns, record.recovered_ns)))
    return FaultBand(record.kind or record.name, record.replica, round(from_s, 3), round(until_s, 3))


def _taken(findings: Findings, bins: int, step: int) -> Taken:
    scene = samples(findings.concurrency, findings.origin_ns, bins, step)
    return Taken(
        at_s=[round(at_ns / 1e9, 3) for at_ns in scene.at_ns],
        waiting=list(scene.waiting),
        inside=list(scene.inside),
        on_the_way=list(scene.on_the_way),
        last_got_s=round(max(0, findings.concurrency.last_got_ns - findings.origin_ns) / 1e9, 3),
    )


def _running_total(by_bin: dict[int, int], ends: range, step: int) -> list[int]:
    return list(accumulate(sum(by_bin.get(index, 0) for index in range(end - step, end)) for end in ends))


def _last_known(by_bin: dict[int, int], ends: range, step: int) -> list[int]:
    values: list[int] = []
    for end in ends:
        known = [by_bin[index] for index in range(end - step, end) if index in by_bin]
        values.append(known[-1] if known else (values[-1] if values else 0))
    return values
