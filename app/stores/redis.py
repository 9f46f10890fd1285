"""One Redis server. The client never sends a command again by itself: a command sent twice would change a lock's behaviour.

The count of commands at the connections is imported for a replica alone: the lab reads a counter without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from inspect import signature
from types import ModuleType
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

from app.settings import Address, Endpoint, Settings
from app.shelf import plugins

SENTINEL = "sentinel"  # the scheme of a sentinel's address
PRIMARY = "lock"  # the sentinel's name for the server that it watches
# a new connection tells the server the name of its library, unless it has this option; redis-py before 7.2 has two for it
UNNAMED = {"driver_info": None} if "driver_info" in signature(redis.Redis).parameters else {"lib_name": None, "lib_version": None}
CLIENT_OPTIONS = {
    "socket_timeout": 5.0,
    "socket_connect_timeout": 2.0,
    "retries": 0,
    "protocol": 2,
    "health_check_interval": 0,
}

NEVER_AGAIN = Retry(NoBackoff(), 0, supported_errors=())  # before it raises an error of this tuple, redis-py connects again


def _options() -> dict[str, Any]:
    options: dict[str, Any] = dict(CLIENT_OPTIONS)
    return options | {"retry": Retry(NoBackoff(), options.pop("retries")), "decode_responses": True}


class Redis(redis.Redis):
    """redis-py's client, with its error type as ``Error``: a lock can catch it without importing the library."""

    Error = redis.RedisError

    reach: Callable[..., redis.Redis] | None = None  # makes a client of the same server, if a sentinel names the server

    @cached_property
    def _clients(self) -> dict[frozenset[Any], redis.Redis]:
        return {}  # options → the client with these options

    def plain(self, **options: Any) -> redis.Redis:
        """Return a client of the same server for a library: this one, or one with these ``options`` of redis-py."""
        if not options:
            return self
        which = frozenset(options.items())
        self._clients[which] = client = self._clients.get(which) or self._client(**options)
        return client

    def _client(self, **options: Any) -> redis.Redis:
        if self.reach is not None:
            return self.reach(redis.Redis, **options)
        return redis.Redis(connection_pool=redis.ConnectionPool(**self.get_connection_kwargs() | options))

    @cached_property
    def subscriptions(self) -> Any:
        """Return the subscriptions of this process. They have their own connection, which waits without a time-out."""
        subscriber = self._client(socket_timeout=None, retry=NEVER_AGAIN)
        return _part("redis_subscriptions").RedisSubscriptions(subscriber.pubsub, self.Error)


def client(kind: type[Redis], endpoint: Endpoint, address: Address, **changed: Any) -> Redis:
    """Make a client for one of an endpoint's servers. changed: they replace the usual options."""
    account = {"username": endpoint.user or None, "password": endpoint.password or None, "db": int(endpoint.database or 0)}
    options = account | _options() | changed
    if endpoint.scheme != SENTINEL:
        return kind(host=address.host, port=address.port, **options)
    sentinel = Sentinel([(address.host, address.port)], sentinel_kwargs=_options())

    def reach(kind: type[redis.Redis], **more: Any) -> Any:
        return sentinel.master_for(PRIMARY, redis_class=kind, **options | more)

    primary: Redis = reach(kind)
    primary.reach = reach
    return primary


def _part(name: str) -> ModuleType:
    return plugins.file(__package__, name)


def counter_redis(settings: Settings) -> Redis:
    """Make the client of the counter's own Redis: breaking the lock's store never loses the counter."""
    seam = {} if settings.journal is None else {"redis_connect_func": _part("redis_connection").uncounted}
    return client(Redis, settings.counter_url, settings.counter_url.first, **seam)


def connect(settings: Settings, _: bool) -> Redis:
    """Make the client for a lock."""
    return client(Redis, settings.redis_url, settings.redis_url.first)


def count_all(addresses: Iterable[Address]) -> None:
    """Count the commands of each client of this process to the lock's store."""
    _part("redis_connection").count_all(addresses)
