"""The stores as the lab runs them, one in each file."""

from __future__ import annotations

from typing import cast

from app import plugins
from lab.servers.store import StoreServers


def store_servers(name: str) -> StoreServers:
    """Return the store of a name: a run loads no other. Raises KeyError for an unknown name."""
    return cast(StoreServers, plugins.file(__name__, name))


def stores() -> dict[str, StoreServers]:
    """Return the stores, by file name."""
    return {name: cast(StoreServers, file) for name, file in plugins.files(__name__).items()}
