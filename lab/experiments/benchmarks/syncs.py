"""The price of Redis's syncs, and what they save.

A Redis syncs always, once a second, or when the kernel likes to.
Price: cycles a second of lua, as a share of those of a Redis that keeps nothing on disk. What it buys: how often a loss of
power takes away a key whose write had been answered a moment before.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

import redis

from app.locks import stages
from app.settings import Settings
from lab.errors import NothingShown
from lab.experiments.benchmark import Measured, RatioLimit, pairwise, ratio, started
from lab.experiments.lock_benchmark import maker, measure_lock
from lab.paths import REPORTS
from lab.report.statistics import of_shares
from lab.scenario.scenario import SYNCS
from lab.servers.process import Running
from lab.servers.programs.redis import RedisServer
from lab.servers.synced_files import SyncedFiles, watched

FOR_S = 1.0
LOSSES = 20  # of power, for each way to sync
WARM_S = 0.15  # of other writes before each of them: the last sync was at any time in the last second
PRICES = {
    "always": RatioLimit(at_most=0.8),  # each of the two commands of a cycle waits for the disk
    "everysec": RatioLimit(at_least=0.7),  # the sync is done by another thread
    "no": RatioLimit(at_least=0.7),
}
LOST = {"always": RatioLimit(at_most=0.0), "everysec": RatioLimit(at_least=0.5), "no": RatioLimit(at_least=1.0)}


def measure(pairs: int) -> Iterator[Measured]:
    REPORTS.mkdir(exist_ok=True)  # on a disk, as the runs are: the folder for temporary files may be in memory
    programs = [RedisServer("none"), *(RedisServer(syncs, persists=True, syncs=syncs) for syncs in SYNCS)]
    with started(*programs, within=REPORTS) as servers:
        up = {server.name: server for server in servers}
        for syncs, promise in PRICES.items():
            what = f"cycles a second of lua with one client and appendfsync {syncs}, as a share of those without a disk"
            both = pairwise(pairs, lambda syncs=syncs: _speed(up[syncs]), lambda: _speed(up["none"]))  # type: ignore[misc]
            yield ratio(f"syncs {syncs}", what, promise, both)
        with watched([up[syncs] for syncs in SYNCS]) as files:
            for syncs in SYNCS:
                yield _lost(up[syncs], files[syncs])


def _speed(server: Running) -> float:
    settings = Settings.read({}, run="bench", redis_url=server.address)
    make = maker(stages()["lua"])
    return measure_lock("lua", "redis", settings, make, 1, False, FOR_S, 0, lambda: 0).per_s


def _lost(server: Running, files: SyncedFiles) -> Measured:
    """Measure how often a key is gone after a loss of power, whose write was answered just before."""
    gone = [_is_gone(server, files, f"lab:bench:{number}") for number in range(LOSSES)]
    share = of_shares([sum(gone)], [len(gone)])
    what = f"losses of power after which an answered write was gone, with appendfsync {server.name}, of {LOSSES}"
    name, promise, samples = f"syncs {server.name} lost", LOST[server.name], [float(one) for one in gone]
    return Measured(name=name, what=what, value=share.value, low=share.low, high=share.high, promise=promise, samples=samples)


def _is_gone(server: Running, files: SyncedFiles, key: str) -> bool:
    client = redis.Redis(port=server.port, socket_timeout=2.0)
    with contextlib.closing(client):
        until_s = time.monotonic() + WARM_S
        while time.monotonic() < until_s:
            client.set("lab:bench:other", "x")
            time.sleep(0.01)
        if not client.set(key, "x"):
            raise NothingShown("Redis did not answer")
        server.kill()
        files.lose_unsynced()
        server.start_again()
        return client.get(key) is None
