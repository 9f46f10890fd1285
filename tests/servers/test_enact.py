"""A schedule on a cluster has the same commands, the same replies, and the same loss as in the explorer."""

from __future__ import annotations

import textwrap
from contextlib import closing

import pytest

from app.lock import Claim
from lab.explore.commands.on_cluster import not_on_cluster
from lab.explore.decision import Explorer
from lab.explore.enact.enact import Agreement, enact
from lab.explore.schedule import typed
from lab.explore.search.replay import walk_live
from lab.explore.store.real_redis import redis_server
from lab.scenario.stages import find_stage
from lab.servers.supervisor import one_supervisor, supervised
from tests.corpus import CORPUS
from tests.sampled import sampled

SHORTEST = {
    # by stage and schedule: the TTL and the work in milliseconds, and the claim that both find broken
    "none:ABAB": (1000, 0, "exclusive"),
    "ttl:A3BpAt1000BrAA": (1000, 0, "releases_only_its_own"),
    # long work: the theft breaks one claim, and the increment that is lost afterwards another
    "ttl:A2Bt1000B2t1600A2": (1000, 1600, "releases_only_its_own"),
    "uuid:A4BpAt1000BrAA": (1000, 0, "releases_atomically"),
    "lua:A2Bt1000B2t1600A2t2000t2600B": (1000, 1600, "held_to_the_end"),
    "watchdog:A2BpAt1500B3rAA": (1500, 0, "survives_a_late_freeze"),
    "lua:xABt1000": (1000, 0, "survives_a_lost_reply"),
}


@pytest.fixture(scope="module")
def servers():
    """Yield a Redis server for the explorer, and share one supervisor for the servers of all runs."""
    with redis_server() as real, one_supervisor():
        yield real


def enacted(text, ttl_ms, work_ms, real, stage=None):
    """Run a schedule on a cluster. stage: the stage of the cluster, if it is not the explorer's."""
    schedule = typed(text, ttl_ms=ttl_ms, work_ms=work_ms)
    seen, question = find_stage(schedule.stage), schedule.question
    with closing(Explorer(seen, real)) as explorer:
        walk = walk_live(explorer.world(question.task, question.replicas), schedule.events, schedule.until_ms)
    claim = next((finding.claim for move in reversed(walk.moves) for finding in move.findings), Claim.exclusive)
    with supervised() as supervisor:
        return enact(supervisor, stage or seen, question, claim, walk)


@pytest.mark.parametrize("text", sampled(SHORTEST, list(SHORTEST)[::2]))
def test_same_on_the_cluster(text, servers, tmp_path, monkeypatch):
    """The replicas of a cluster send the same commands and get the same replies as in the explorer, and the same claim breaks."""
    monkeypatch.chdir(tmp_path)
    ttl_ms, work_ms, claim = SHORTEST[text]
    done = enacted(text, ttl_ms, work_ms, servers)

    assert (done.agreement, {one.claim.name for one in done.explored}) == (Agreement.AGREES, {claim}), done.difference


def test_messages_are_not_held(servers, tmp_path, monkeypatch):
    """A replica that listens to a channel is not held: the schedule is not compared, and the replica is named."""
    monkeypatch.chdir(tmp_path)
    done = enacted("pubsub:ABb", 1000, 0, servers)

    assert done.agreement is Agreement.NOT_COMPARABLE
    assert "B listens to a channel" in done.difference or "b listens to a channel" in done.difference


def test_another_lock_differs(servers, tmp_path, monkeypatch):
    """If the replicas run another lock than the explorer, the event at which they differ is named."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lab.explore.enact.enact.TRIES", 1)
    (tmp_path / "other.py").write_text(textwrap.dedent(OTHER), encoding="utf-8")
    done = enacted("lua:A4", 1000, 0, servers, find_stage(str(tmp_path / "other.py")))

    assert done.agreement is Agreement.DIFFERS
    assert "event 3, A: A sends DEL L, and not EVALSHA" in done.difference


OTHER = '''
    """Deletes its key without a look at it."""
    from uuid import uuid4
    from app.lock import Grant, Stage, claims

    class Lock:
        def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
            self.store, self.key = store, key

        def run(self, work):
            self.store.set(self.key, str(uuid4()), nx=True, px=1000)
            result = work(Grant(self.key))
            self.store.delete(self.key)
            return result

    STAGE = Stage(lock=Lock, store="redis", claims=claims("exclusive"), ttl_ms=1000)
'''


ODD = """
    'Locks of which not each thread is that of the request.'
    import time
    from concurrent.futures import ThreadPoolExecutor
    from app.foreign.declared import declared
    from app.lock import Grant, Stage, claims
    POOL = ThreadPoolExecutor(4)
    class Lock:
        def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
            self.store, self.key = store, key
        def run(self, work):
            self.acquire()
            return work(Grant(self.key))
        def acquire(self):
            self.store.set(self.key, "locked", px=1000)
    async def use(at):
        if await at.client.set(at.key, at.token, nx=True, px=at.ttl_ms):
            await at.work()
            if await at.client.get(at.key) == at.token.encode():
                await at.client.delete(at.key)
    class Pipelined(Lock):
        def acquire(self):
            self.store.pipeline().get(self.key).set(self.key, "locked", px=1000).execute()
    class Kept(Lock):
        def acquire(self):
            while not self.store.set(self.key, "locked", nx=True, px=1000):
                time.sleep(0.03)
    class InAPool(Lock):
        def run(self, work):
            self.acquire()
            return POOL.submit(work, Grant(self.key)).result()
    STAGE = Stage(lock={lock}, store="redis", claims=claims("exclusive releases_only_its_own"), ttl_ms=1000)
"""


@pytest.mark.parametrize(
    ("lock", "events", "agreement"),
    [
        ("declared(use)", "A'2a'32A'2B'2pAt1000B'2rAA'2", Agreement.AGREES),
        ("declared(use)", "xA'2B'2t1000", Agreement.AGREES),
        ("Pipelined", "AB", Agreement.NOT_COMPARABLE),
        ("InAPool", "AaBbab", Agreement.AGREES),
        ("Kept", "A3Bt1000", Agreement.NOT_COMPARABLE),
    ],
)
def test_odd_locks(lock, events, agreement, servers, tmp_path, monkeypatch):
    """Asyncio tasks and pool threads are held one by one; a pipeline, or a loss that the judge cannot see, is no evidence."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "odd.py").write_text(textwrap.dedent(ODD.format(lock=lock)), encoding="utf-8")
    done = enacted(f"{tmp_path}/odd.py:{events}", 1000, 0, servers)

    assert done.agreement is agreement, done.difference


@pytest.mark.parametrize(
    ("lock", "events", "work_ms"),
    [("names_no_key", "ABAB", 0), ("sets_again_before_the_release", "A2Bt1000B2t1600A2", 1600)],
)
def test_a_wrong_lock_is_not_acquitted(lock, events, work_ms, servers, tmp_path, monkeypatch):
    """Replicas that do the same as in the explorer agree with it, also if they send a PING or the judge names another claim."""
    monkeypatch.chdir(tmp_path)
    done = enacted(f"{CORPUS}/broken/{lock}.py:{events}", 1000, work_ms, servers)

    assert done.agreement is Agreement.AGREES, done.difference


def test_what_is_not_possible():
    """A schedule with random numbers or several requests of a replica cannot run on a cluster, and the reason is named."""
    choice, several = typed("bucketed:A=1A2"), typed("lua:AB", in_turn=2)

    why = [not_on_cluster(find_stage(one.stage), one.question, one.events) for one in (choice, several, typed("lua:AB"))]
    assert why == [
        "event 1, A=1, cannot be made to happen: a real replica draws its own random numbers",
        "its requests lock in a way in which the requests of no scenario do",
        "",
    ]
