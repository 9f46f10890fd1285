"""The slips of docs/slips.md, decided again: the statements of the page about every order of events are true."""

from __future__ import annotations

from time import monotonic, sleep
from uuid import uuid4

import pytest

from app.lock import Claim, NotOwner
from app.locks import stage
from app.locks.watchdog import RENEWER
from app.stores.redis import Redis
from lab.evidence import decided as kept
from lab.explore.questions import by_default
from lab.explore.schedule import typed
from lab.explore.story.scenes import staged
from lab.scenario.stages import find_stage
from lab.story.say import sentences
from tests.sampled import sampled
from tests.servers.explored import exploring

WITHIN_S = 120.0
TTL_MS = 400
# the promise that breaks in the first searches; None if all are kept
BROKEN = {
    "asks_before_unlock": None,
    "closed_without_the_lock": Claim.exclusive,
    "looks_first": None,
    "lua_unlocked_twice": None,
    "returned_without_the_lock": Claim.exclusive,
    "setnx_unlocked_twice": Claim.releases_atomically,
    "steps_apart": Claim.exclusive,
    "thread_id_as_owner": Claim.exclusive,
    "thread_id_as_token": Claim.releases_only_its_own,
    "unlocked_once_too_often": Claim.exclusive,
    "whole_seconds": Claim.exclusive,
}
LIVE = {"asks_before_unlock", "steps_apart"}  # one breaks no promise, and one breaks the first
NOT_PROMISED = {"setnx_unlocked_twice"}  # its key has no owner
FIRST = 2  # searches: without a fault, and with work that outlasts the TTL
# more searches, for a request that gives up waiting and for a third request
MORE = {"returned_without_the_lock": 3, "closed_without_the_lock": 7}


@pytest.mark.parametrize("name", sampled(BROKEN, LIVE))
def test_slip_decided_again(name, real):
    """Decided again, a slip breaks the promise that its page names, or none."""
    slip = find_stage(str(kept.slips()[name]))
    of_ms = kept.current(slip).ttl_ms

    with exploring(real, slip.path) as explorer:
        answers = [explorer.answer(one, WITHIN_S) for one in by_default(slip, of_ms)[: MORE.get(name, FIRST)]]

    assert all(one.is_decided for one in answers)
    hold(name, slip, {claim for one in answers for claim in one.result.broken})


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_kept_of_a_slip(name):
    """The kept decision is of the slip's code as it is now, and breaks the same promise."""
    slip = find_stage(str(kept.slips()[name]))
    decision = kept.current(slip)

    assert decision is not None, f"the code has changed: .venv/bin/lab explore docs/slips/{name}.py --keep"
    hold(name, slip, {Claim[claim] for one in decision.searches[: MORE.get(name, FIRST)] for claim in one.get("breaks", ())})


def hold(name, slip, broken) -> None:
    """Compare the claims that a slip breaks with the expected ones."""
    promises = broken & slip.claims
    if BROKEN[name] is None:
        assert not promises
    else:
        assert BROKEN[name] in broken
        assert (BROKEN[name] in promises) == (name not in NOT_PROMISED)


def test_each_explored_slip_is_decided_again():
    """Each slip whose page names a `lab explore` command has an expected answer here."""
    slips = {name: find_stage(str(path)).story.see_it for name, path in kept.slips().items()}
    assert set(BROKEN) == {name for name, lines in slips.items() if any(line.startswith("lab explore") for line in lines)}


def test_second_acquire_is_told_as_waiting(real):
    """The story tells that a request which has written and asks again waits for the lock: no try reads like a release."""
    slip = find_stage(str(kept.slips()["steps_apart"]))
    schedule = typed("steps_apart:A2Bt3000B2t5000A2t5100At5200At5300A", ttl_ms=3000, work_ms=5000)
    with exploring(real, slip.path) as explorer:
        story, _ = staged(explorer, schedule.question, schedule.events, schedule.until_ms)

    assert sentences(story).endswith("A leaves B’s lock alone and waits for the lock.")


@pytest.fixture
def store(redis_port):
    client = Redis(port=redis_port, decode_responses=True)
    yield client
    client.connection_pool.disconnect(inuse_connections=False)  # the watchdog may renew at this moment


def lock(name, store):
    return stage(name).lock(store, f"lab:test:{uuid4().hex}", ttl_ms=10_000, wait_ms=0, retry_ms=1)


def test_question_before_the_unlock_hides_the_loss(store):
    """A release that first asks whether the lock is its own reports nothing; the release alone reports the loss."""

    def lose(grant):
        store.delete(grant.key)

    with pytest.raises(NotOwner):
        lock("reentrant", store).run(lose)
    lock(str(kept.slips()["asks_before_unlock"]), store).run(lose)


@pytest.mark.parametrize(("name", "is_renewed"), [("one_renewal_a_name", False), ("watchdog", True)])
def test_who_takes_over_in_the_process_is_renewed(name, is_renewed, store):
    """A request that gets the lock before the release of the last holder is over is renewed, unless both have one entry."""
    path = kept.slips().get(name, name)
    before, after = (stage(str(path)).lock(store, "lab:test:in-one-process", ttl_ms=TTL_MS, wait_ms=0, retry_ms=1) for _ in "12")
    before.owner, after.owner = "before", "after"
    release = before.release_script

    def answered_late(keys, args):
        answer = release(keys, args)
        after.acquire()
        RENEWER.watch(after)
        return answer

    before.release_script = answered_late
    before.acquire()
    RENEWER.watch(before)
    before.release()

    until_s = monotonic() + 4 * TTL_MS / 1000
    while monotonic() < until_s and store.exists(after.key):
        sleep(0.01)
    assert bool(store.exists(after.key)) == is_renewed
    after.release()


def test_helper_unlocks_its_caller(store):
    """The work of a caller whose helper unlocks runs without a key, and the error comes when the work is over."""
    seen = []

    with pytest.raises(NotOwner):
        lock(str(kept.slips()["unlocked_once_too_often"]), store).run(lambda grant: seen.append(store.exists(grant.key)))

    assert seen == [0]
