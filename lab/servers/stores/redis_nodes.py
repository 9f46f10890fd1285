"""Five Redis servers that are independent of each other.

Where the scenario requires it, each has a replica and a Sentinel of its own, which promotes the
replica when the primary dies. The servers are numbered in this order: five primaries, the five
replicas, the five Sentinels.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.scenario.requirements import REDIS_NODES
from lab.scenario.scenario import Scenario
from lab.servers.process import ServerProgram
from lab.servers.programs.redis import RedisServer, Sentinel
from lab.servers.replication_link import ReplicationLink, followed
from lab.servers.server import Reachable, Server
from lab.servers.store import EventRecorder
from lab.servers.stores.redis import RedisEvents, clients, commands, is_sentinel, primary_named

__all__ = ["clients", "commands", "event_recorders", "joined", "programs", "url"]  # ``commands`` adds the servers' counts

NUMBERS = range(1, REDIS_NODES + 1)


def programs(scenario: Scenario) -> list[ServerProgram]:
    primaries = [primary_named(f"lock-redis-{number}", scenario) for number in NUMBERS]
    replicas = [RedisServer(f"lock-replica-{number}", notify=True) for number in NUMBERS]
    sentinels = [Sentinel(f"sentinel-{number}") for number in NUMBERS]
    return [*primaries, *replicas, *sentinels] if scenario.store_replica else [*primaries]


@contextlib.contextmanager
def joined(running: Sequence[Server]) -> Iterator[Sequence[ReplicationLink]]:
    """Let each replica follow its primary, and let its Sentinel watch both; do nothing where no server has a replica.

    No pair knows of another pair. Raises NotReady when the servers of a pair do not find each other.
    """
    primaries, replicas, sentinels = running[:REDIS_NODES], running[REDIS_NODES : 2 * REDIS_NODES], running[2 * REDIS_NODES :]
    with contextlib.ExitStack() as pairs:
        several = zip(primaries, replicas, sentinels, strict=bool(replicas))
        yield [pairs.enter_context(followed(primary, [replica], sentinel))[0] for primary, replica, sentinel in several]


def url(running: Sequence[Reachable]) -> str:
    addresses = [one.address for one in running]
    sentinels = addresses[2 * REDIS_NODES :]
    return f"sentinel://{','.join(sentinels)}" if sentinels else ",".join(addresses)


def event_recorders(running: Sequence[Server], path: Path) -> list[EventRecorder]:
    return [RedisEvents(one.port, path, one.name, one.killed, one.host) for one in running if not is_sentinel(one)]
