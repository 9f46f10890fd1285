"""Test the events that are kept for a picture."""

from app.journal import GaveUp
from lab.judge.findings import CHUNK, Trace

NUMBER = 2 * CHUNK + 7


def trace() -> Trace:
    """Return a trace of requests that gave up one nanosecond apart; the two requests of each pair are exchanged."""
    made = Trace()
    for number in range(NUMBER):
        at_ns = min(number ^ 1, NUMBER - 1)
        made.waits.add(("replica-1", GaveUp(request=f"r{at_ns}", asked_ns=0, gave_up_ns=at_ns, why="", commands=1)))
    return made


def test_nearest_are_in_order():
    """Of many items, the trace returns the nearest to a moment, half of them before it, in the order of time."""
    waits = trace().waits

    assert waits.number == NUMBER
    assert [event.gave_up_ns for _, event in waits.around(CHUNK, 10)] == [*range(CHUNK - 5, CHUNK + 5)]
    # if few come before the moment, more of the later ones are given; a small run is given whole
    assert [event.gave_up_ns for _, event in waits.around(2, 10)] == [*range(10)]
    assert len(waits.around(0, NUMBER)) == NUMBER
