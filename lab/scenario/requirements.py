"""What a scenario may ask of a stage (``needs``), and what it may ask of a run (``danger``).

Below a need, the scenario makes no sense for the stage. Below a danger, a pass of the run proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from app.lock import Claim, Stage


def _guards(stage: Stage) -> bool:
    """Whether it promises that replicas destroy nothing of each other's, with the help of a store."""
    return stage.store is not None and Claim.exclusive in stage.claims


def _keeps_out(stage: Stage) -> bool:
    """Whether it does so by one lock: an optimistic stage lets everybody in, and refuses writes; buckets let many in."""
    return _guards(stage) and stage.resource not in ("mysql_versioned", "buckets")


VOLATILE = ("redis", "redis_nodes")  # stores that can keep nothing on disk
WITH_SESSIONS = ("etcd", "mysql", "zookeeper")  # stores at which a client has a session that can end; etcd calls it a lease
ENSEMBLES = ("etcd", "zookeeper")  # stores of several servers with one that leads
NEEDS: dict[str, tuple[str, Callable[[Stage], bool]]] = {
    "store": ("a store that replicas share", lambda stage: stage.store is not None),
    "ttl": ("a time to live", lambda stage: stage.ttl_ms is not None),
    "lock": (
        "a lock to wait for",
        lambda stage: _keeps_out(stage) or Claim.prompt_handover in stage.claims,
    ),
    "mutex": (
        "a lock that ends at its process",
        lambda stage: Claim.exclusive_in_process in stage.claims and Claim.exclusive not in stage.claims,
    ),
    "waiting": (  # setnx_no_else keeps nobody out, and has everybody try again
        "a store that has somebody try again",
        lambda stage: stage.store is not None and (Claim.exclusive in stage.claims or stage.store == "redis"),
    ),
    "guard": (
        "a promise that replicas destroy nothing of each other's in one number",
        lambda stage: _guards(stage) and stage.resource != "buckets",
    ),
    "one_lock": ("one lock for the whole number", lambda stage: stage.resource != "buckets"),
    "exclusion": ("a lock that keeps others out", _keeps_out),
    "volatile": ("a lock in a store that can keep nothing on disk", lambda stage: _keeps_out(stage) and stage.store in VOLATILE),
    "session": ("a session at its store", lambda stage: _guards(stage) and stage.store in WITH_SESSIONS),
    "owner": ("an owner written in the lock", lambda stage: Claim.releases_only_its_own in stage.claims),
    "ensemble": ("a store that elects another leader among its servers", lambda stage: stage.store in ENSEMBLES),
    "nodes": ("several stores", lambda stage: stage.store == "redis_nodes"),
    "redis": ("one lock in Redis", lambda stage: stage.store in ("redis", "redis_nodes") and _keeps_out(stage)),
    "fence": ("a resource that refuses old fences", lambda stage: stage.resource == "fenced"),
    "writes": ("a write that can be followed by another", lambda stage: stage.resource in ("read_then_write", "fenced")),
    "lease": ("an explicit lease time", lambda stage: stage.lease),
    "renewal": ("renewal", lambda stage: stage.ttl_ms is not None and Claim.held_to_the_end in stage.claims),
}
MEASURES = (
    "asked_while_struck",
    "clocks_moved",
    "handovers",
    "handovers_between_replicas",
    "late_releases",
    "least_of_even_share_percent",
    "least_share_percent",
    "outlasted_ttl",
    "outlived_freezes",
    "refused",
    "sessions_ended",
    "struck",
    "struck_past_ttl",
    "tries",
    "turned_away",
    "waited",
)
