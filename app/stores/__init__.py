"""Make the client of a lock's store. Each store has a file here; a stage names the file in its ``store``.

A store's file has two names. ``connect(settings, counted)`` returns a client; if it is counted, its connections reach the
failpoints. The client has its library's error type as ``Error``: a lock can then catch it without importing the library.
``CLIENT_OPTIONS`` are the options that decide how a failure appears to the lock. Connections are made at
the first use: after the fork, and only for the stores that are needed. A file can have ``count_all(addresses)``: then this
process also counts the commands of a client that a library makes.

The remaining files are parts of stores: ``*_connection`` and ``*_client`` count commands and reach the failpoints,
``redis_commands`` and ``statements`` know the meanings of commands, ``redis_subscriptions`` listens to channels, and
``redis_steps`` lets each command wait for a controller.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from app.settings import Settings
from app.shelf import plugins


def store(name: str) -> ModuleType:
    """Return the file of a store. Raises KeyError for an unknown name."""
    return plugins.file(__name__, name)


def lock_store(name: str | None, settings: Settings, counted: bool = False) -> Any:
    """Return the client for a stage's store; None for a stage without a store. Raises KeyError for an unknown name.

    counted: whether commands are counted and reach the failpoints, also the commands of a client that a library makes.
    """
    if name is None:
        return None
    if counted:
        getattr(store(name), "count_all", lambda _: None)(getattr(settings, f"{name}_url").addresses)
    return store(name).connect(settings, counted)
