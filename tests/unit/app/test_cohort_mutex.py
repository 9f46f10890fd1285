"""The mutex of a cohort: turns come in order, what is held is handed on, and a thread that gives up is skipped."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import permutations

import pytest

from app.cohort_mutex import CohortMutex, Turn
from app.lock import NotAcquired

KEY = "lock"


class Thread:
    """A thread that waits for its turn, and ends it when the test lets it go: by a hand-over where it can, otherwise without."""

    def __init__(self, mutex: CohortMutex, wait_ms: float = 10_000) -> None:
        self.mutex, self.wait_ms = mutex, wait_ms
        self.inside, self.go, self.joined = threading.Event(), threading.Event(), threading.Event()
        self.held: object = None
        self.handed_over = False
        self.gave_up = False
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self) -> None:
        try:
            with self.mutex.turn(KEY, self.wait_ms) as turn:
                turn.held = turn.held or object()
                self.held = turn.held
                self.inside.set()
                assert self.go.wait(10)
                self.handed_over = turn.hand_over()
        except NotAcquired:
            self.gave_up = True

    def leave(self) -> Thread:
        assert self.inside.wait(10)
        self.go.set()
        self.thread.join()
        return self


def waiting(mutex: CohortMutex, number: int) -> None:
    """Wait until so many threads are in the queue."""
    for _ in range(5000):
        if len(mutex._queues.get(KEY, ())) == number:
            return
        threading.Event().wait(0.001)
    raise AssertionError("they never came")


def queued(mutex: CohortMutex, number: int) -> list[Thread]:
    """Return threads that came one after the other."""
    threads = []
    for place in range(number):
        threads.append(Thread(mutex))
        waiting(mutex, place + 1)
    return threads


@pytest.mark.parametrize(("most", "handed_over"), [(16, [True, True, False]), (2, [True, True, False] * 2)])
def test_turns_come_in_order(most, handed_over):
    """Each thread gets its turn in the order of asking, and what the thread before held.

    The last one hands nothing over. After the last hand-over that is allowed, the next holds nothing, and the count begins again.
    """
    threads = queued(CohortMutex(most), len(handed_over))

    done = [thread.leave() for thread in threads]

    assert [thread.handed_over for thread in done] == handed_over
    assert [thread.held is done[0].held for thread in done] == [place < 3 for place in range(len(done))]


def test_waiter_that_gives_up():
    """A thread whose time is over leaves the queue, and the thread behind it gets what is handed over."""
    mutex = CohortMutex(most=16)
    first = Thread(mutex)
    waiting(mutex, 1)
    impatient = Thread(mutex, wait_ms=1)
    impatient.thread.join()
    last = Thread(mutex)
    waiting(mutex, 2)

    assert impatient.gave_up
    assert first.leave().handed_over
    assert last.leave().held is first.held


def test_keys_have_queues_of_their_own():
    """Two keys have nothing to do with each other, and a queue without threads is forgotten."""
    mutex = CohortMutex(most=16)

    with mutex.turn("a", 0) as one, mutex.turn("b", 0) as other:
        one.held = "a"
        assert (other.held, mutex.held("a")) == (None, "a")

    assert mutex._queues == {}


def deeds(turn: Turn, mutex: CohortMutex) -> Iterator[str]:
    """Do what a thread can do next to its place, one step at a time: end its turn by a hand-over or without, or give up."""
    while turn in mutex._queues.get(KEY, ()):
        if mutex._is_head(turn):
            turn.held = turn.held or turn
            yield "holds"
            if not mutex.hand_over(turn):
                mutex._leave(turn)
        else:
            yield "gives up"
            if not mutex._is_head(turn):  # as ``turn`` looks once more
                mutex._leave(turn)


def test_every_order():
    """Whatever the order in which four threads hold, hand over and give up, exactly one is the head, until nobody is left."""
    for order in set(permutations([0, 0, 1, 1, 2, 2, 3, 3])):
        one_order(order)


def one_order(order: tuple[int, ...]) -> None:
    mutex = CohortMutex(most=1)
    turns = [mutex._join(KEY) for _ in range(4)]
    steps = [deeds(turn, mutex) for turn in turns]

    for number in order:
        next(steps[number], None)
        queue = mutex._queues.get(KEY, ())
        assert all(turn.has_come.is_set() == (turn is queue[0]) for turn in queue)
        assert all(turn.handed_over <= 1 for turn in turns)
    for step in steps:
        assert len(list(step)) <= 2

    assert mutex._queues == {}
