"""Connections by store name, made when first used: after the fork, and only what the stage needs.

Every client option that decides how a failure looks is set here and recorded with the run (``CLIENT_OPTIONS``): a client
that silently sends a command again would change what a lock does.
"""

from __future__ import annotations

from time import monotonic_ns
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from app.gate import RENEW, ReplyLost, passage
from app.journal import Journal, Renewed
from app.settings import Settings

CLIENT_OPTIONS = {
    "socket_timeout": 5.0,
    "socket_connect_timeout": 2.0,
    "retries": 0,
    "protocol": 2,
    "health_check_interval": 0,
}


def _options() -> dict[str, Any]:
    options: dict[str, Any] = dict(CLIENT_OPTIONS)
    return options | {"retry": Retry(NoBackoff(), options.pop("retries")), "decode_responses": True}


class Redis(redis.Redis):
    """A plain client that carries its own error type, so that a lock can catch it without importing the library."""

    Error = redis.RedisError


class GatedRedis(Redis):
    """The client handed to a lock: it passes the gates, counts commands, and journals what is sent outside any request."""

    journal: Journal

    def execute_command(self, *args: Any, **options: Any) -> Any:
        passage.sending()
        answer = super().execute_command(*args, **options)
        try:
            passage.sent(args[0], answer)
        except ReplyLost:  # as a client that sends a command again when the answer does not come
            answer = super().execute_command(*args, **options)
            passage.sent(args[0], answer)
        if passage.phase is RENEW and self.journal.on:
            key = str(args[3] if args[0].startswith("EVAL") else args[1])
            self.journal.say(Renewed(request="", key=key, renewed_ns=monotonic_ns(), answer=str(answer)))
        return answer


def lock_store(name: str | None, settings: Settings, journal: Journal) -> Any:
    """The client for a stage's store; None for a stage that needs none. Raises KeyError for a name nobody knows."""
    if name is None:
        return None
    return {"redis": _lock_redis}[name](settings, journal)


def counter_redis(settings: Settings) -> Redis:
    """The Redis that holds the counter: one of its own, so that breaking the lock's store never loses the counter."""
    return Redis(host=settings.counter_redis.host, port=settings.counter_redis.port, **_options())


def _lock_redis(settings: Settings, journal: Journal) -> Redis:
    if not journal.on:
        return Redis(host=settings.lock_redis.host, port=settings.lock_redis.port, **_options())
    client = GatedRedis(host=settings.lock_redis.host, port=settings.lock_redis.port, **_options())
    client.journal = journal
    return client
