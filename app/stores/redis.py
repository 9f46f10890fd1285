"""One Redis server. The client never sends a command again by itself: that would change what a lock does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from time import monotonic_ns
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry
from redis.sentinel import Sentinel

from app.endpoint import Address, Endpoint
from app.failpoints import RENEW, Meaning, ReplyLost, request_context
from app.journal import Journal, Renewed
from app.settings import Settings
from app.stores.redis_subscriptions import Subscriptions

SENTINEL = "sentinel"  # the scheme of a sentinel's address
PRIMARY = "lock"  # the sentinel's name for the server that it watches
SCRIPTS = frozenset({"EVAL", "EVALSHA", "EVAL_RO", "EVALSHA_RO", "FCALL", "FCALL_RO"})
# these do nothing to a key where they answer zero or None
CONDITIONAL = frozenset(
    {"SETNX", "MSETNX", "HSETNX", "LPOP", "RPOP", "BLPOP", "BRPOP", "LMOVE", "BLMOVE", "RPOPLPUSH", "BRPOPLPUSH", "EXEC"}
)
LOOKS = frozenset(
    {"GET", "MGET", "STRLEN", "EXISTS", "TYPE", "TTL", "PTTL", "HGET", "HMGET", "HGETALL", "HEXISTS", "HLEN", "LRANGE", "LINDEX",
     "LLEN", "LPOS", "SMEMBERS", "SISMEMBER", "SCARD", "ZRANGE", "ZRANGEBYSCORE", "ZRANK", "ZSCORE", "ZCARD", "KEYS", "SCAN"}
)  # fmt: skip
NOT_ABOUT_THE_LOCK = frozenset(
    {"WATCH", "UNWATCH", "MULTI", "DISCARD", "PING", "TIME", "INFO", "SCRIPT", "FUNCTION", "SUBSCRIBE", "UNSUBSCRIBE",
     "PSUBSCRIBE", "PUNSUBSCRIBE", "PUBLISH"}
)  # fmt: skip
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


def script(command: Sequence[Any]) -> str:
    """Return which script a command runs: its text, its hash or its name; empty for a command that runs none."""
    return str(command[1]) if command[0] in SCRIPTS else ""


def key(command: Sequence[Any]) -> str:
    """Return the first key of a command, empty for a command without one."""
    return str(next(iter(command[3:] if command[0] in SCRIPTS else command[1:]), ""))


def meaning(command: Sequence[Any], answer: object) -> Meaning:
    """Return what the answer to a command means for a lock. Only an answer with a meaning of its own is a refusal."""
    name = command[0]
    if name == "SET" and "GET" not in command[3:]:
        return Meaning.AGREED if answer else Meaning.REFUSED  # only with a condition, NX for example, it can do nothing
    if name in CONDITIONAL:
        return Meaning.AGREED if answer else Meaning.REFUSED
    if name in LOOKS:
        return Meaning.LOOKED
    return Meaning.NOTHING if name in NOT_ABOUT_THE_LOCK else Meaning.OPEN


class Redis(redis.Redis):
    """A plain client that has its error type as ``Error``: a lock can catch it without importing the library."""

    Error = redis.RedisError
    journal: Journal

    reach: Callable[..., redis.Redis] | None = None  # makes another client of the same server, where a sentinel knows it

    @cached_property
    def subscriptions(self) -> Subscriptions:
        """The channels of this process. They have their own connection, which waits without a time-out."""
        forever = {"socket_timeout": None}
        if self.reach is not None:
            return Subscriptions(self.reach(redis.Redis, **forever).pubsub, self.Error)
        pool = redis.ConnectionPool(**self.get_connection_kwargs() | forever)
        return Subscriptions(redis.Redis(connection_pool=pool).pubsub, self.Error)


class GatedRedis(Redis):
    """The client for a lock: reaches the failpoints, counts commands, and journals what is sent outside any request."""

    def execute_command(self, *args: Any, **options: Any) -> Any:
        request_context.sending(redis.ConnectionError)
        answer = super().execute_command(*args, **options)
        try:
            request_context.sent(args[0], answer, meaning(args, answer), script(args))
        except ReplyLost:  # behave as a client that sends a command again after a lost reply
            request_context.sending_again()
            answer = super().execute_command(*args, **options)
            request_context.sent(args[0], answer, meaning(args, answer), script(args))
        if request_context.phase is RENEW and self.journal.on:
            at = {"sent_ns": request_context.sent_ns, "renewed_ns": monotonic_ns()}
            self.journal.record(Renewed(request="", key=key(args), command=args[0], answer=str(answer), **at))
        return answer


def client(kind: type[Redis], endpoint: Endpoint, address: Address, **others: Any) -> Redis:
    """Make a client for one of an endpoint's servers. ``others`` are options that differ."""
    account = {"username": endpoint.user or None, "password": endpoint.password or None, "db": int(endpoint.database or 0)}
    options = account | _options() | others
    if endpoint.scheme != SENTINEL:
        return kind(host=address.host, port=address.port, **options)
    sentinel = Sentinel([(address.host, address.port)], sentinel_kwargs=_options())

    def reach(kind: type[redis.Redis], **more: Any) -> Any:
        return sentinel.master_for(PRIMARY, redis_class=kind, **options | more)

    made: Redis = reach(kind)
    made.reach = reach
    return made


def counter_redis(settings: Settings) -> Redis:
    """Make the client of the counter's own Redis: breaking the lock's store never loses the counter."""
    return client(Redis, settings.counter_url, settings.counter_url.first)


def connect(settings: Settings, journal: Journal) -> Redis:
    """Make the client for a lock; without a journal a plain one."""
    return gated(settings.redis_url, settings.redis_url.first, journal)


def gated(endpoint: Endpoint, address: Address, journal: Journal) -> Redis:
    """Make a client that reaches the failpoints, for one of an endpoint's servers."""
    if not journal.on:
        return client(Redis, endpoint, address)
    made = client(GatedRedis, endpoint, address)
    made.journal = journal
    return made
