"""Who waited, who was inside and who was on the way, from histories made by hand; and what its chart says of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from lab.judge.concurrency import BIN_NS, Concurrency, Occupancy, samples
from lab.judge.findings import Findings
from lab.judge.verdict import weigh
from lab.report.charts import crowd as chart
from lab.report.run_data import Result, Taken, series
from tests.builders import MS, Made, record_of


def result_of(findings: Findings, threads: int = 1) -> Result:
    record = record_of(threads=threads)
    return Result(record=record, judgement=weigh(record, findings), series=series(findings), folder=Path())


def title_of(result: Result) -> str:
    axes = Figure().add_subplot()
    chart.draw(axes, [result])
    return axes.get_title(loc="left") or axes.get_title()


def waits_for_nothing(made: Made) -> Made:
    """The first holder is killed at 50 ms; two wait in vain for a second, and a third comes later."""
    made.increment("r0", 0, None, at=(10, 11, 12, 13), outcome="unknown").fault("kill", "r0", 50, 60)
    return made.gave_up("r1", 1000).gave_up("r2", 1000)


def test_presence_is_counted_by_bin():
    """Each stay is counted from its begin to its end, at the end of each bin."""
    presence = Occupancy()
    presence.stay(0, 3 * BIN_NS)
    presence.stay(BIN_NS, 2 * BIN_NS)
    presence.stay(5, BIN_NS - 1)  # within one bin
    presence.stay(-2 * BIN_NS, 2 * BIN_NS)  # there before the first

    assert list(presence.counts(0, 4)) == [2, 3, 1, 0]


def test_thinning_keeps_the_fullest_moment():
    """Thinning keeps the fullest moment, and never mixes two moments."""
    crowd = Concurrency()
    crowd.waiting.stay(3 * BIN_NS, 4 * BIN_NS)
    crowd.inside.stay(5 * BIN_NS, 6 * BIN_NS)
    crowd.on_the_way.stay(0, 8 * BIN_NS)

    scene = samples(crowd, origin_ns=0, bins=8, step=4)

    assert (list(scene.at_ns), scene.waiting, scene.inside, scene.on_the_way) == (
        [4 * BIN_NS, 6 * BIN_NS],
        (1, 0),
        (0, 1),
        (1, 1),
    )


def test_memory_grows_with_time_alone():
    """Memory grows with the time and not with the requests."""
    presence = Occupancy()
    for number in range(10_000):
        presence.stay(number, number + 3 * BIN_NS)

    assert len(presence.change) == 2


def test_killed_holder_is_inside_till_then(made):
    """A holder that was killed is inside until the kill."""
    findings = waits_for_nothing(made).analyse(final=0)

    taken = result_of(findings).series.taken

    assert [count for at_s, count in zip(taken.at_s, taken.inside, strict=True) if at_s < 0.03] == [1]
    assert [count for at_s, count in zip(taken.at_s, taken.inside, strict=True) if at_s > 0.06] == [0] * (len(taken.at_s) - 3)


def test_second_turn_is_no_wait(made):
    """A request that does the work again has not waited in between."""
    made.increment("a", 0, 0, at=(110, 111, 112, 113)).increment("a", 1, 1, at=(900, 901, 902, 903), turn=2, outcome=None)

    assert list(made.analyse(final=2).concurrency.waiting.counts(0, 50)) == [0] * 50


@pytest.mark.parametrize(
    ("threads", "title"),
    [
        (1, "mine: no request got the lock after 0.01 s; up to 2 waited, all 3 threads busy"),
        (2, "mine: no request got the lock after 0.01 s; up to 2 waited, with 6 threads"),
    ],
)
def test_title_of_a_stuck_run(made, threads, title):
    """The title states since when no request got the lock, and whether all threads were taken."""
    findings = waits_for_nothing(made).analyse(final=0)

    assert title_of(result_of(findings, threads)) == title


def test_title_of_a_run_with_waiters(made):
    """The title states how many requests waited, where all got the lock."""
    made.increment("a", 0, 0, at=(10, 20, 200, 201)).increment("b", 1, 1, at=(202, 203, 300, 301), replica="replica-2")
    findings = made.analyse(final=2)
    findings.concurrency.waiting.stay(11 * MS, 202 * MS)
    findings.measures["waited"] = 1

    assert title_of(result_of(findings)) == "mine: up to 1 request waited for the lock at once, with 3 threads"


def test_no_chart_without_waiters(made):
    """There is no such chart where no request waited, or where an old run does not record it."""
    quiet = result_of(made.increment("a", 0, 0).analyse(final=1))
    busy = result_of(Findings(), threads=0)
    busy.series.taken = Taken([0.1], [1], [0], [1], 0.0)

    assert not chart.fits([quiet])
    assert not chart.fits([busy])
