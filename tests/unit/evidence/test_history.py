"""Test how the history of a run is read: in the order of time, and with the outcome of each request."""

import random
from dataclasses import dataclass

from lab.evidence.history import in_order, outcome_of
from tests.every import every


@dataclass(frozen=True)
class Stamp:
    at_ns: int


@every("chunk", [1, 2, 7, 1000])
def test_merge_orders_streams(chunk):
    """Streams that are nearly in order are merged in the order of time."""
    streams = {}
    for name in "abc":
        times = sorted(random.Random(name).sample(range(10_000), 500))
        for index in range(0, len(times) - 1, 2):  # swap neighbours: each stamp is out of order by one
            times[index], times[index + 1] = times[index + 1], times[index]
        streams[name] = iter([Stamp(time) for time in times])

    merged = list(in_order(streams, chunk=max(chunk, 2)))

    assert len(merged) == 1500
    assert [item.at_ns for _, _, item in merged] == sorted(at_ns for at_ns, _, _ in merged)


@every(
    "status, replica, outcome",
    [
        (200, "replica-1", "acknowledged"),
        (200, "", "unknown"),
        (503, "replica-1", "failed"),
        (409, "replica-1", "failed"),
        (400, "replica-1", "failed"),
        (500, "replica-1", "unknown"),
        (502, "", "unknown"),
        (504, "", "unknown"),
        (0, "", "unknown"),
    ],
)
def test_every_answer_is_one_of_three(status, replica, outcome):
    """Only a status 200 with its replica acknowledges; a refusal has failed, and any other answer leaves the outcome unknown."""
    assert outcome_of(status, replica) == outcome
