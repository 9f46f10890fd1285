"""Read the settings of a replica from flags and the environment. No other module reads the environment.

The address of a store is one text: ``[scheme://][user[:password]@]host:port[,host:port…][/database]``. As in any URL, ``%40`` in
a password is an ``@``, and an IPv6 address is in brackets.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints
from urllib.parse import unquote, urlsplit

import msgspec

from app.shelf.plugins import suggestion

PREFIX = "LAB_"
LONGEST_MS = 86_400_000  # a day
ANY = "any"
Name = Annotated[str, msgspec.Meta(pattern=r"\A[A-Za-z0-9._:-]{1,200}\Z")]  # it is a part of keys and of file names
Milliseconds = Annotated[int, msgspec.Meta(ge=1, le=LONGEST_MS)]
MillisecondsOrZero = Annotated[int, msgspec.Meta(ge=0, le=LONGEST_MS)]
Nesting = Literal["", "same", "crossed"]  # how two locks are taken


@dataclass(frozen=True, slots=True)
class Address:
    """A server's host and port, written ``host:port`` or ``[::1]:port``."""

    host: str
    port: int

    @staticmethod
    def parse(text: str) -> Address:
        """Read ``host:port``. Raises ValueError."""
        with contextlib.suppress(ValueError):  # its message may quote a password
            place = urlsplit(f"//{text}")
            if place.hostname and place.port:
                return Address(place.hostname, place.port)
        raise ValueError("that is not host:port")

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server or several, with user and password. The password is in no text that is made of an endpoint."""

    addresses: tuple[Address, ...]
    scheme: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    database: str = ""

    @staticmethod
    def parse(text: str) -> Endpoint:
        """Read the text. Raises ValueError; its message quotes nothing that may be a password."""
        scheme, _, place = text.rpartition("://")
        account, _, servers = place.rpartition("@")
        hosts, _, database = servers.partition("/")
        user, _, password = account.partition(":")
        addresses = tuple(Address.parse(part) for part in hosts.split(","))
        return Endpoint(addresses, scheme, unquote(user), unquote(password), database)

    @property
    def first(self) -> Address:
        """Return the first server: the only one for most stores."""
        return self.addresses[0]


LOCAL_REDIS = Endpoint.parse("127.0.0.1:6379")
LOCAL_REDIS_NODES = Endpoint.parse(",".join(f"127.0.0.1:{port}" for port in range(6380, 6385)))
LOCAL_ZOOKEEPER = Endpoint.parse("127.0.0.1:2181")
LOCAL_ETCD = Endpoint.parse("127.0.0.1:2379")
LOCAL_MYSQL = Endpoint.parse("lab@127.0.0.1:3306/lab")
LOCAL_POSTGRESQL = Endpoint.parse("lab@127.0.0.1:5432/postgres")


class SettingsError(ValueError):
    """An invalid setting; the message has the setting, its value and the valid values."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one replica: each is a flag of ``create_app``, or ``LAB_<NAME>`` in the environment."""

    # the name of the stage, or the path of its file
    stage: str = "none"
    # the name of the replica
    replica: Name = "replica"
    # the name of the run; it is part of every key, so that two runs never share a key
    run: Name = "alone"
    # the time to live of the lock; None for the stage's own
    ttl_ms: Milliseconds | None = None
    # how long a request waits for the lock
    wait_ms: MillisecondsOrZero = 10_000
    # how long a waiter sleeps between two tries
    retry_ms: Milliseconds = 30
    # an explicit lease time, for stages that take one
    lease_ms: Milliseconds | None = None
    # how long the work takes between read and write
    work_ms: MillisecondsOrZero = 0
    # how many items there are to sell; None for a counter that only grows
    stock: Annotated[int, msgspec.Meta(ge=1)] | None = None
    # the Redis that holds the counter
    counter_url: Endpoint = LOCAL_REDIS
    # the address of each store, in the form of ``Endpoint``
    redis_url: Endpoint = LOCAL_REDIS
    redis_nodes_url: Endpoint = LOCAL_REDIS_NODES
    zookeeper_url: Endpoint = LOCAL_ZOOKEEPER
    etcd_url: Endpoint = LOCAL_ETCD
    mysql_url: Endpoint = LOCAL_MYSQL
    postgresql_url: Endpoint = LOCAL_POSTGRESQL
    # ``same`` takes the lock twice, ``crossed`` takes two locks in either order
    nested: Nesting = ""
    # whether the work writes twice: the counter, and a receipt of it
    receipts: bool = False
    # the server's names in accepted requests, with commas, or ``any``: so a page of another site in a browser is refused
    hosts: str = "127.0.0.1,localhost"
    # the file to append events to; None for no journal
    journal: Path | None = None
    # the folder of the faults to inject; None for none
    faults: Path | None = None
    # the address of the controller for which each command to a store waits; empty without one
    steps: str = ""

    @staticmethod
    def read(environ: Mapping[str, str] = os.environ, **flags: Any) -> Settings:
        """Read the settings: flags win over the environment, the environment over the defaults. Raises SettingsError."""
        texts = {name.removeprefix(PREFIX).lower(): text for name, text in environ.items() if name.startswith(PREFIX)} | flags
        for name in sorted(texts.keys() - TYPES):
            raise SettingsError(f"there is no setting {name} ({PREFIX}{name.upper()}). {suggestion(name, sorted(TYPES))}")
        return Settings(**{name: _value(name, text) for name, text in texts.items()})


TYPES = get_type_hints(Settings, include_extras=True)


def _value(name: str, text: Any) -> Any:
    kind = TYPES[name]
    try:
        if kind is Endpoint:
            return Endpoint.parse(text)
        return msgspec.convert(text, kind, strict=False, dec_hook=lambda path, text: path(text))
    except (ValueError, msgspec.ValidationError) as error:
        raise SettingsError(f"setting {name} ({PREFIX}{name.upper()}): {error}") from None
