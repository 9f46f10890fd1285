"""The stores: for each the client that a lock gets, one a file. A stage names the file in its ``store``.

A store's file has two names. ``connect(settings, journal)`` returns a client that reaches the failpoints and has its library's
error type as ``Error``: a lock can then catch it without importing the library. ``CLIENT_OPTIONS`` are the options that decide
what a failure looks like; they are recorded with the run. Connections are made at the first use: after the fork, and only for
the stores that are needed. ``app/store.py`` lists what a lock may call.

``redis_subscriptions`` is no store: it is the part of the Redis client that listens to channels.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from app import plugins
from app.journal import Journal
from app.settings import Settings


def store(name: str) -> ModuleType:
    """Return the file of a store. Raises KeyError for an unknown name."""
    return plugins.file(__name__, name)


def lock_store(name: str | None, settings: Settings, journal: Journal) -> Any:
    """Return the client for a stage's store; None for a stage without a store. Raises KeyError for an unknown name."""
    return None if name is None else store(name).connect(settings, journal)
