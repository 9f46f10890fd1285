"""The settings of a replica, from flags and the environment. No other module reads the environment.

The address of a store is one text: ``[scheme://][user[:password]@]host:port[,host:port…][/database]``. As in any URL, ``%40`` in
a password is an ``@``, and an IPv6 address is in brackets.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from app.shelf.plugins import nearest

PREFIX = "LAB_"
LONGEST_MS = 86_400_000  # a day
DIGITS = re.compile(r"[0-9]{1,12}")
A_NAME = re.compile(r"[A-Za-z0-9._:-]{1,200}")  # it is a part of keys and of file names
ANY = "any"
SAME, CROSSED = NESTINGS = ("same", "crossed")  # how two locks are taken
LOOPBACK = ("127.0.0.1", "localhost")
SHOWN = 60  # characters of a refused value


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
    """One server or several, with user and password. No text that is made of an endpoint contains the password."""

    addresses: tuple[Address, ...]
    scheme: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    database: str = ""

    @staticmethod
    def parse(text: str) -> Endpoint:
        """Read the text. Raises ValueError; its message quotes nothing that may be a password."""
        scheme, _, place = text.rpartition("://")
        account, _, where = place.rpartition("@")
        hosts, _, database = where.partition("/")
        user, _, password = account.partition(":")
        addresses = tuple(Address.parse(part) for part in hosts.split(","))
        return Endpoint(addresses, scheme, unquote(user), unquote(password), database)

    @property
    def first(self) -> Address:
        """The first server: the only one for most stores."""
        return self.addresses[0]


LOCAL_REDIS = Endpoint.parse("127.0.0.1:6379")
LOCAL_REDIS_NODES = Endpoint.parse(",".join(f"127.0.0.1:{port}" for port in range(6380, 6385)))
LOCAL_ZOOKEEPER = Endpoint.parse("127.0.0.1:2181")
LOCAL_ETCD = Endpoint.parse("127.0.0.1:2379")
LOCAL_MYSQL = Endpoint.parse("lab@127.0.0.1:3306/lab")
LOCAL_POSTGRESQL = Endpoint.parse("lab@127.0.0.1:5432/postgres")


class SettingsError(ValueError):
    """An invalid setting; the message names the setting, its value and what would be valid."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one replica: each is a flag of ``create_app``, or ``LAB_<NAME>`` in the environment."""

    # the name of the stage, or the path of its file
    stage: str = "none"
    # the name of the replica
    replica: str = "replica"
    # the name of the run; it is part of every key, so that two runs never share a key
    run: str = "alone"
    # the time to live of the lock; None for the stage's own
    ttl_ms: int | None = None
    # how long a request waits for the lock
    wait_ms: int = 10_000
    # how long a waiter sleeps between two tries
    retry_ms: int = 30
    # an explicit lease time, for stages that take one
    lease_ms: int | None = None
    # how long the work takes between read and write
    work_ms: int = 0
    # how many items there are to sell; None for a counter that only grows
    stock: int | None = None
    # the Redis that holds the counter
    counter_url: Endpoint = LOCAL_REDIS
    # for each store, where it is; ``Endpoint`` has the form
    redis_url: Endpoint = LOCAL_REDIS
    redis_nodes_url: Endpoint = LOCAL_REDIS_NODES
    zookeeper_url: Endpoint = LOCAL_ZOOKEEPER
    etcd_url: Endpoint = LOCAL_ETCD
    mysql_url: Endpoint = LOCAL_MYSQL
    postgresql_url: Endpoint = LOCAL_POSTGRESQL
    # ``same`` takes the lock twice, ``crossed`` takes two locks in either order
    nested: str = ""
    # given as ``yes`` if the work writes twice: the counter, and a receipt of it
    receipts: bool = False
    # the names under which requests may reach the replica, or ``any``: a browser's page of another site is refused
    hosts: tuple[str, ...] = LOOPBACK
    # the file to append events to; None for no journal
    journal: Path | None = None
    # the folder of the faults to inject; None for none
    faults: Path | None = None
    # the address of the controller for which each command to a store waits; empty for none
    steps: str = ""

    @staticmethod
    def read(environ: Mapping[str, str] = os.environ, **flags: Any) -> Settings:
        """Read the settings: flags win over the environment, the environment over the defaults. Raises SettingsError."""
        known = {field.name for field in dataclasses.fields(Settings)}
        given = {name.removeprefix(PREFIX).lower(): text for name, text in environ.items() if name.startswith(PREFIX)}
        given |= {name: str(value) for name, value in flags.items()}
        for name in sorted(given.keys() - known):
            near = nearest(name, known)
            hint = f"Did you mean {PREFIX}{near.upper()}?" if near else f"The settings: {', '.join(sorted(known))}"
            raise SettingsError(f"there is no setting {name} ({PREFIX}{name.upper()}). {hint}")
        return Settings(**{name: _value(name, text) for name, text in given.items()})


def _value(name: str, text: str) -> Any:
    try:
        if name in READERS:
            return READERS[name](text)
        if name.endswith("_url"):
            return Endpoint.parse(text)
        if name.endswith("_ms"):
            at_least = 0 if name in ("work_ms", "wait_ms") else 1
            return _whole(text, "milliseconds", at_least, ", at most 86\u2009400\u2009000 (a day)", LONGEST_MS)
    except ValueError as error:
        raise SettingsError(f"setting {name} ({PREFIX}{name.upper()}): {error}") from None
    return text


def _one_of(text: str, choices: tuple[str, ...]) -> str:
    if text not in choices:
        raise ValueError(f"{text!r} is not one of {', '.join(filter(None, choices))}")
    return text


def _whole(text: str, unit: str, at_least: int, at_most: str = "", most: float = math.inf) -> int:
    if not DIGITS.fullmatch(text) or not at_least <= int(text) <= most:
        raise ValueError(f"{_shown(text)} is not a whole number of {unit}, at least {at_least}{at_most}")
    return int(text)


def _name(text: str) -> str:
    if not A_NAME.fullmatch(text):
        raise ValueError(f"{_shown(text)} is not a valid name: use 1 to 200 letters, digits or any of . _ : -")
    return text


def _hosts(text: str) -> tuple[str, ...]:
    if text == ANY:
        return ()
    names = tuple(part.strip().lower() for part in text.split(","))
    if not all(names):
        raise ValueError(f"{_shown(text)} is not a list of host names, as in localhost,lab.example; {ANY} accepts every name")
    return names


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]} …")


READERS: dict[str, Callable[[str], Any]] = {
    "replica": _name,
    "run": _name,
    "nested": lambda text: _one_of(text, ("", *NESTINGS)),
    "receipts": lambda text: _one_of(text, ("", "yes")) == "yes",
    "stock": lambda text: _whole(text, "items", at_least=1),
    "hosts": _hosts,
    "journal": _path,
    "faults": _path,
}
