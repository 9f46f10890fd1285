"""The shelf of stores: the client of each, as a lock is handed it. One file a store; its name is what a stage's ``store`` says.

Connections are made when first used: after the fork, and only what the stage needs. A file has ``connect(settings, journal)``,
which returns a client that reaches the failpoints and carries its library's error type as ``Error``, so that a lock can catch it
without importing the library; and ``CLIENT_OPTIONS``, every option that decides how a failure looks, recorded with the run.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

from app import plugins
from app.journal import Journal
from app.settings import Settings


def store(name: str) -> ModuleType:
    """The file of a store. Raises KeyError for a name nobody knows."""
    return plugins.file(__name__, name)


def lock_store(name: str | None, settings: Settings, journal: Journal) -> Any:
    """The client for a stage's store; None for a stage that needs none. Raises KeyError for a name nobody knows."""
    return None if name is None else store(name).connect(settings, journal)
