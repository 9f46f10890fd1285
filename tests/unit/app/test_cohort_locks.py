"""Test the stages whose replicas hand their lock over: the commands that they send, and when they do not hand the lock over."""

import threading
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from app.lock import Grant, NotAcquired, NotOwner
from app.locks import cohort, redlock_cohort
from tests.fake_clock import FakeClock
from tests.fake_redis import FakeRedis

TTL_MS = 1000


class FakeNodes:
    """Five servers that know one key."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.token = ""

    def all(self, command: str, *words: Any) -> list[Any]:
        self.ran.append("release" if command == "EVAL" else "acquire")
        if command == "EVAL":
            self.token = "" if self.token == words[-1] else self.token
            return [1] * 5
        if self.token:
            return [None] * 5
        self.token = words[1]
        return ["OK"] * 5


@pytest.fixture
def clock(monkeypatch) -> FakeClock:
    made = FakeClock()
    for stage in (cohort, redlock_cohort):
        monkeypatch.setattr(stage, "time", made)
    return made


@pytest.fixture(params=[(cohort, FakeRedis), (redlock_cohort, FakeNodes)], ids=["cohort", "redlock_cohort"])
def case(request, clock) -> tuple[ModuleType, Any]:
    stage, store = request.param
    return stage, store()


def lock(case, key, wait_ms=10_000):
    stage, store = case
    return stage.Lock(store, key, TTL_MS, wait_ms, 1)


def holder_and_waiter(case, key: str, work: Callable[[], object]) -> SimpleNamespace:
    """Let one request do the work while another waits for its lock. Return the result or the error of each."""
    stage, _ = case
    came: SimpleNamespace = SimpleNamespace(of_holder=None, of_waiter=None)

    def wait() -> None:
        came.of_waiter = lock(case, key).run(lambda grant: grant.still_mine())

    waiter = threading.Thread(target=wait)

    def hold(grant: Grant) -> object:
        waiter.start()
        while len(stage.COHORTS._queues[key]) < 2:
            threading.Event().wait(0.001)
        return work()

    try:
        came.of_holder = lock(case, key).run(hold)
    except (NotOwner, ZeroDivisionError) as error:
        came.of_holder = error
    waiter.join()
    return came


@pytest.mark.parametrize(("work", "came_of_it"), [(lambda: "done", "done"), (lambda: 1 / 0, "division by zero")])
def test_handed_over_without_a_command(case, key, work, came_of_it):
    """A holder hands its lock to the next request of its replica, also if its work failed; the store is asked once."""
    came = holder_and_waiter(case, key, work)

    assert (str(came.of_holder), came.of_waiter) == (came_of_it, True)
    assert case[1].ran == ["acquire", "release"]


def test_ended_lease_is_not_handed_over(case, key, clock):
    """A lock whose lease may have ended is released, and the next request acquires the lock again."""

    def outlast_the_ttl() -> None:
        clock.now_s += 1.1 * TTL_MS / 1000

    came = holder_and_waiter(case, key, outlast_the_ttl)

    assert came.of_waiter is True
    assert case[1].ran == ["acquire", "release", "acquire", "release"]


def test_try_next_to_a_holder(case, key):
    """A request that does not want to wait is refused at once while its own replica has the lock; the store is not asked."""

    def work(grant: Grant) -> None:
        refused = threading.Thread(target=try_it)
        refused.start()
        refused.join()

    def try_it() -> None:
        with pytest.raises(NotAcquired):
            lock(case, key, wait_ms=0).run(lambda grant: None)
        case[1].ran.append("refused")

    lock(case, key).run(work)

    assert case[1].ran == ["acquire", "refused", "release"]
