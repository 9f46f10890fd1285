"""The settings of a replica, from flags and the environment. No other module reads the environment."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.endpoint import Endpoint
from app.nested_lock import NESTINGS

PREFIX = "LAB_"
LOCAL_REDIS = Endpoint.parse("127.0.0.1:6379")
LOCAL_REDIS_NODES = Endpoint.parse(",".join(f"127.0.0.1:{port}" for port in range(6380, 6385)))
LOCAL_ZOOKEEPER = Endpoint.parse("127.0.0.1:2181")
LOCAL_ETCD = Endpoint.parse("127.0.0.1:2379")
LOCAL_MYSQL = Endpoint.parse("lab@127.0.0.1:3306/lab")


class SettingsError(ValueError):
    """An invalid setting; the message names the setting, its value and what would be valid."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of one replica: each is a flag of ``create_app``, or ``LAB_<NAME>`` in the environment."""

    # one stage, or several separated by commas: ``?stage=`` then chooses one for a request, and the first is the default
    stage: tuple[str, ...] = ("none",)
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
    # the Redis that holds the counter
    counter_url: Endpoint = LOCAL_REDIS
    # for each store, where it is; ``app/endpoint.py`` has the form
    redis_url: Endpoint = LOCAL_REDIS
    redis_nodes_url: Endpoint = LOCAL_REDIS_NODES
    zookeeper_url: Endpoint = LOCAL_ZOOKEEPER
    etcd_url: Endpoint = LOCAL_ETCD
    mysql_url: Endpoint = LOCAL_MYSQL
    # ``same`` takes the lock twice, ``crossed`` takes two locks in either order
    nested: str = ""
    # given as ``yes`` if the work writes twice: the counter, and a receipt of it
    receipts: bool = False
    # the file to append events to; None for no journal
    journal: Path | None = None
    # the folder of the faults to inject; None for none
    gates: Path | None = None

    @staticmethod
    def read(environ: Mapping[str, str] = os.environ, **flags: Any) -> Settings:
        """Read the settings: flags win over the environment, the environment over the defaults. Raises SettingsError."""
        known = {field.name for field in dataclasses.fields(Settings)}
        given = {name.removeprefix(PREFIX).lower(): text for name, text in environ.items() if name.startswith(PREFIX)}
        given |= {name: str(value) for name, value in flags.items()}
        if strange := sorted(given.keys() - known):
            raise SettingsError(f"unknown setting {', '.join(strange)}; the settings are {', '.join(sorted(known))}")
        return Settings(**{name: _value(name, text) for name, text in given.items()})


def _value(name: str, text: str) -> Any:
    try:
        if name in READERS:
            return READERS[name](text)
        if name.endswith("_url"):
            return Endpoint.parse(text)
        if name.endswith("_ms"):
            return _milliseconds(text, at_least=0 if name in ("work_ms", "wait_ms") else 1)
    except ValueError as error:
        raise SettingsError(f"setting {name} ({PREFIX}{name.upper()}): {error}") from None
    return text


def _one_of(text: str, choices: tuple[str, ...]) -> str:
    if text not in choices:
        raise ValueError(f"{text!r} is none of {', '.join(filter(None, choices))}")
    return text


def _milliseconds(text: str, at_least: int) -> int:
    if not text.lstrip("-").isdigit() or int(text) < at_least:
        raise ValueError(f"{text!r} is not a whole number of milliseconds, at least {at_least}")
    return int(text)


READERS: dict[str, Callable[[str], Any]] = {
    "stage": lambda text: tuple(part.strip() for part in text.split(",") if part.strip()),
    "nested": lambda text: _one_of(text, ("", *NESTINGS)),
    "receipts": lambda text: _one_of(text, ("", "yes")) == "yes",
    "journal": lambda text: Path(text) if text else None,
    "gates": lambda text: Path(text) if text else None,
}
