"""What a stage needs, up and running: the only object with power over processes. It always cleans up."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import redis

from app.lock import Stage
from lab import service
from lab.keeper import Keeper
from lab.scenario import Scenario
from lab.service import NotReady, Running
from lab.services.gunicorn import Gunicorn, health
from lab.services.nginx import Nginx
from lab.services.redis import Redis, info

LAB_COMMANDS = (
    "info",
    "ping",
    "hello",
    "client",
    "config",
    "psubscribe",
    "punsubscribe",
    "subscribe",
    "unsubscribe",
    "script",
)


@dataclass(frozen=True)
class Cluster:
    """A running system: the stores, the replicas, and nginx in front."""

    run: str
    stage: Stage
    lock_redis: Running | None
    counter_redis: Running
    replicas: tuple[Running, ...]
    nginx: Running

    @property
    def address(self) -> str:
        """Where to send increments."""
        return self.nginx.address

    @property
    def servers(self) -> list[Running]:
        """All of them."""
        return [running for running in (self.lock_redis, self.counter_redis, *self.replicas, self.nginx) if running]

    def dead(self) -> list[str]:
        """The names of the servers that have ended."""
        return [running.service.name for running in self.servers if not running.alive()]

    def in_flight(self) -> int:
        """Requests inside the replicas now. Raises OSError when a replica does not answer."""
        return sum(int(health(replica.port)["in_flight"]) for replica in self.replicas)

    def quiet(self, within_s: float) -> bool:
        """Wait until nothing is in flight; False if that does not come in time."""
        until = time.monotonic() + within_s
        while time.monotonic() < until:
            with contextlib.suppress(OSError):
                if self.in_flight() == 0:
                    return True
            time.sleep(0.02)
        return False

    def thaw(self, pid: int) -> None:
        """Let a stopped process go on; nothing happens if it is no more."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)

    def stop_lock_store(self) -> None:
        """Stop the lock's store where it is: it answers when it is thawed."""
        if self.lock_redis:
            self.lock_redis.keeper.signal(self.lock_redis.pid, signal.SIGSTOP)

    def thaw_lock_store(self) -> None:
        """Let it go on."""
        if self.lock_redis:
            self.lock_redis.keeper.signal(self.lock_redis.pid, signal.SIGCONT)

    def restart_lock_store(self) -> None:
        """Kill it and start it again at its address, with what it kept on disk."""
        if self.lock_redis:
            self.lock_redis.restart()

    def client_options(self) -> dict[str, Any]:
        """The replicas' Redis client options."""
        options: dict[str, Any] = health(self.replicas[0].port)["client_options"]
        return options

    def value(self) -> int | None:
        """The counter, read from its own store; None if that is gone."""
        client = redis.Redis(port=self.counter_redis.port, socket_timeout=2.0)
        try:
            return int(client.get(f"lab:{self.run}:{self.stage.name}:counter") or 0)
        except redis.RedisError:
            return None
        finally:
            client.close()

    def commands(self) -> dict[str, dict[str, int]]:
        """How often each command ran, by store (``lock``, ``counter``); not the lab's own."""
        counts: dict[str, dict[str, int]] = {}
        for name, running in (("lock", self.lock_redis), ("counter", self.counter_redis)):
            with contextlib.suppress(OSError):
                counts[name] = _command_counts(running.port) if running else {}
        return counts


def _command_counts(port: int) -> dict[str, int]:
    calls: dict[str, int] = {}
    for key, figures in info(port, "commandstats").items():
        command = key.removeprefix("cmdstat_").partition("|")[0]
        if command not in LAB_COMMANDS:
            calls[command] = calls.get(command, 0) + int(figures["calls"])
    return calls


@contextlib.contextmanager
def cluster(
    keeper: Keeper,
    stage: Stage,
    scenario: Scenario,
    run: str,
    folder: Path,
    shelf_name: str | None = None,
    journals: bool = True,
) -> Iterator[Cluster]:
    """Bring up what the stage needs; journals go to ``folder/journal``, logs to ``folder/logs``. Stops all of it at the end.

    shelf_name: the stage's name or path, as the replicas are to look it up. journals: without them, nothing is told and no
    gate is passed (to measure what that costs). Raises MissingProgram and NotReady.
    """
    logs, journal = folder / "logs", folder / "journal"
    for path in (logs, journal):
        path.mkdir(parents=True, exist_ok=True)
    for program in ("redis-server", "nginx", "gunicorn"):
        service.program(program)  # refuse before anything has been started
    with contextlib.ExitStack() as started:

        def up(*services: service.Service) -> list[Running]:
            starting = []
            for one in services:
                starting.append(service.start(one, keeper, logs))
                started.callback(starting[-1].running.stop)  # at once: an interrupt may come before the next
            running = [one.wait() for one in starting]
            for again in running:  # a second try is another process than the one that was started first
                started.callback(again.stop)
            return running

        stores = [Redis("counter-redis")] + (
            [Redis("lock-redis", notify=True, persists=scenario.store_persists)] if stage.store else []
        )
        counter_redis, *rest = up(*stores)
        lock_redis = rest[0] if rest else None
        settings = _settings(scenario, run, shelf_name or stage.name) | {
            "counter_redis": counter_redis.address,
            "lock_redis": (lock_redis or counter_redis).address,
        }
        if scenario.faults:
            settings["gates"] = str(folder / "gates")
        names = [f"replica-{number}" for number in range(1, scenario.replicas + 1)]
        told = {name: {"journal": str(journal / f"{name}.jsonl")} if journals else {} for name in names}
        replicas = up(*(Gunicorn(name, settings | told[name]) for name in names))
        ports = tuple(replica.port for replica in replicas)
        (nginx,) = up(Nginx(ports, run, read_timeout_s=int(scenario.request_timeout_s) + 30))
        system = Cluster(run, stage, lock_redis, counter_redis, tuple(replicas), nginx)
        if dead := system.dead():
            raise NotReady(f"{', '.join(dead)} ended right after coming up; see {logs}")
        yield system


def _settings(scenario: Scenario, run: str, shelf_name: str) -> dict[str, str]:
    settings = {"stage": shelf_name, "run": run, "nested": scenario.nested}
    for name in ("wait_ms", "retry_ms", "work_ms"):
        settings[name] = str(getattr(scenario, name))
    if scenario.ttl_ms is not None:
        settings["ttl_ms"] = str(scenario.ttl_ms)
    return settings
