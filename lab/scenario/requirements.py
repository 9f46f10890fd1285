"""List what a scenario can require: of a stage (NEEDS), and of a run (MEASURES, the names in ``danger``).

A scenario makes no sense for a stage that lacks one of its needs. A run below the scenario's danger proves nothing, even if it
passes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from app.lock import Claim, Stage


def _guards(stage: Stage) -> bool:
    """Return whether the stage promises, with the help of a store, that no replica destroys increments of another."""
    return stage.store is not None and Claim.exclusive in stage.claims


def _keeps_out(stage: Stage) -> bool:
    """Return whether the stage guards the counter by one lock, which a waiter gets when it is free.

    An optimistic stage lets every request in and refuses writes. A stage with buckets lets several requests in. If waiters of a
    queue may sleep on although the lock is free, the results of other scenarios depend on chance.
    """
    return _guards(stage) and stage.resource not in ("mysql_versioned", "buckets") and not stage.waiters_may_sleep_on


def _asks(stage: Stage) -> bool:
    """Return whether a request asks for a key, a row or a mutex before its work.

    An optimistic stage only compares when it writes, and one command needs no lock.
    """
    has_lock = stage.store is not None or Claim.exclusive_in_process in stage.claims
    return has_lock and stage.resource not in ("mysql_versioned", "one_command")


def _releases_late(stage: Stage) -> bool:
    """Return whether a holder whose lease ended during the work still finishes the work, and then releases.

    A lock without renewal that checks its lease before the write gives the work up, so no request would be served.
    """
    return Claim.held_to_the_end in stage.claims or Claim.survives_a_freeze not in stage.claims


VOLATILE = ("redis", "redis_nodes")  # stores that can run without a disk
# stores at which a client has a session that can end; etcd calls it a lease
WITH_SESSIONS = ("etcd", "mysql", "postgresql", "zookeeper")
# stores whose clocks can be shifted; not etcd: it is written in Go, which asks the kernel for the time without the C library
CLOCKED = ("mysql", "redis", "redis_nodes", "zookeeper")
LOCKLESS = ("mysql_versioned", "one_command")  # resources that need no lock: they compare, or do everything in one command
FENCED = ("fenced", "fenced_owner")  # resources that refuse old fences
ENSEMBLES = ("etcd", "zookeeper")  # stores of several servers, one of which is the leader
VOTED = "redis_nodes"  # the store whose servers vote on a lock
REDIS_NODES = 5  # how many servers VOTED has
WITH_REPLICA = "redis"  # the store whose server can have replicas; then there is a Sentinel as well


def servers(store: str | None, store_nodes: int, standby: bool = False) -> int:
    """Return the number of servers of a stage's store: faults and ``nodes_away`` count them from 1."""
    if store is None:
        return 0
    if store == VOTED:
        return REDIS_NODES
    if store in ENSEMBLES:
        return store_nodes
    return 3 if standby and store == WITH_REPLICA else 1


def most_servers(needs: Collection[str], store_nodes: int) -> int:
    """Return the largest number of servers of any store that meets the needs."""
    if "nodes" in needs:
        return REDIS_NODES
    return store_nodes if "ensemble" in needs else max(REDIS_NODES, store_nodes)


# By name: the words for an error ("frozen_holder needs …"), and a function that tells whether a stage has it.
NEEDS: dict[str, tuple[str, Callable[[Stage], bool]]] = {
    "store": ("a store that replicas share", lambda stage: stage.store is not None),
    "ttl": ("a lock with a time to live (TTL)", lambda stage: stage.ttl_ms is not None),
    "queue": ("a queue over all replicas", lambda stage: _keeps_out(stage) and Claim.fair in stage.claims),
    "lock": (
        "a lock for which requests wait",
        lambda stage: _keeps_out(stage) or (stage.store is None and _asks(stage)),
    ),
    "mutex": (
        "a lock inside one process only",
        lambda stage: Claim.exclusive_in_process in stage.claims and Claim.exclusive not in stage.claims,
    ),
    "waiting": (  # setnx_no_else excludes no request, but its requests try again
        "a store at which requests try again",
        lambda stage: stage.store is not None and (Claim.exclusive in stage.claims or stage.store == "redis"),
    ),
    "guard": (
        "protection of one number against lost increments between replicas",
        lambda stage: _guards(stage) and stage.resource != "buckets",
    ),
    "asking": ("a lock for which a request asks", _asks),
    "one_lock": ("one lock for the whole counter", lambda stage: stage.resource != "buckets"),
    "exclusion": ("a lock that excludes other requests, and whose waiters wake up", _keeps_out),
    "late_release": ("a holder that works to the end and releases, also when its lease is over", _releases_late),
    "volatile": ("a lock in a store that can run without a disk", lambda stage: _keeps_out(stage) and stage.store in VOLATILE),
    "session": ("a session at its store", lambda stage: _guards(stage) and stage.store in WITH_SESSIONS),
    "owner": (  # the promises of a library do not show whether it stores an owner
        "an owner stored in the lock",
        lambda stage: bool(stage.library) or Claim.releases_only_its_own in stage.claims,
    ),
    "ensemble": ("a store that can elect a new leader", lambda stage: stage.store in ENSEMBLES),
    "nodes": ("a lock in several stores", lambda stage: stage.store == VOTED),
    "majority": ("a lock in several servers, of which most must answer", lambda stage: stage.store in (*ENSEMBLES, VOTED)),
    "standby": (
        "a lock in one Redis, which a replica can replace",
        lambda stage: stage.store == "redis" and _keeps_out(stage),
    ),
    "waits_inside": (
        "a lock whose holder may wait for another lock until its lease has ended, and works all the same",
        lambda stage: stage.store != VOTED,
    ),
    "silence": (  # an ensemble of ZooKeeper ended the session in two of four runs
        "a lease that ends while its store is silent (an ensemble that elects its leader anew may give each session more time)",
        lambda stage: stage.store not in ENSEMBLES,
    ),
    "lost_numbers": (  # a store makes a number again while its first holder is inside by chance, except for the last number
        "a lock that does not depend on which numbers its store has forgotten",
        lambda stage: stage.store != WITH_REPLICA or stage.resource != "fenced",
    ),
    "redis": ("a lock in Redis", lambda stage: stage.store in ("redis", "redis_nodes") and _keeps_out(stage)),
    "clocks": (
        "a lock in a store whose clock can be shifted (etcd reads it without the C library)",
        lambda stage: _keeps_out(stage) and stage.store in CLOCKED,
    ),
    "freed": (
        "no lock at all, or a lock that becomes free again when a write of its holder has failed",
        lambda stage: (
            stage.resource in LOCKLESS or (_keeps_out(stage) and bool(stage.ttl_ms or Claim.freed_after_failure in stage.claims))
        ),
    ),
    "unfenced": ("a resource that accepts every write", lambda stage: stage.resource not in FENCED),
    "fence": ("a resource that refuses old fences", lambda stage: stage.resource in FENCED),
    "writes": (
        "a resource to which a request can write twice",
        lambda stage: stage.resource in ("read_then_write", "mysql_row", *FENCED),
    ),
    "lease": ("a lock that takes an explicit lease time", lambda stage: stage.lease),
    "reentrance": ("a lock that its holder can take again", lambda stage: Claim.reentrant in stage.claims),
    "renewal": (
        "a lease that its holder renews",
        lambda stage: stage.ttl_ms is not None and Claim.held_to_the_end in stage.claims,
    ),
}
# By name of the measure: the events that it counts, in words.
MEASURES = {
    "asked_during_fault": "requests that asked for the lock while a fault was in force, got it, and wrote",
    "asked_on_each_side": "requests that asked a split store while both sides granted the lock, on the side with fewer requests",
    "behind_a_leaver": "grants of requests that had waited behind a request that gave up",
    "clocks_moved": "servers whose own clock was seen to jump",
    "granted": "requests that got the lock, and wrote",
    "granted_anew": "faults of the lock's store during which another request got the lock, and the holder was still inside",
    "handovers": "grants that went to a request that was already waiting when the holder began to release, and that wrote",
    "handovers_between_replicas": "handovers from a holder in one replica to a holder in another",
    "late_writes": "writes that reached the counter late, because the network delayed them",
    "late_releases": "faults longer than the TTL in which another request got the lock, or the lock was renewed, "
    "so that a late release met a holder",
    "least_of_even_share_percent": "increments acknowledged by the least busy replica, in percent of an even share",
    "least_share_percent": "increments acknowledged by the least busy replica, in percent of all",
    "met_a_left_lock": "requests that asked, in the same replica, for a lock that a failed request had left behind",
    "outlasted_ttl": "holders that held the lock longer than its TTL",
    "outlasted_ttls": "how many whole TTLs the longest hold lasted",
    "outlived_failed_renewals": "failed renewals after which the holder went on for longer than the TTL",
    "outlived_freezes": "requests that were stopped longer than the TTL by a fault, and went on",
    "reentered": "requests that entered a lock which a failed request had left behind",
    "resumed_beside_another": "requests that were stopped longer than the TTL, and went on while another request had the lock, "
    "or before any other request got it",
    "released_before_a_wait": "holders that released while another request was held up in its acquire, before its wait",
    "refused": "writes that the resource refused",
    "served_percent": "requests that were acknowledged, in percent of all",
    "sessions_ended": "sessions that were ended at the lock's store",
    "faults": "faults that were injected",
    "faults_past_ttl": "faults that lasted longer than the TTL",
    "tries": "requests that asked for the lock, with or without success",
    "turned_away": "requests that did not get the lock",
    "waited": "requests that waited for the lock at least as long as one retry pause, got it, and wrote",
    "waited_between_releases": "requests that waited while a holder was between its inner and its outer release",
}
