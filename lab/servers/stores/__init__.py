"""The stores as the lab runs them, one in each file."""

from __future__ import annotations

from typing import cast

from app import plugins
from lab.servers.store import StoreServers


def stores() -> dict[str, StoreServers]:
    """Return the stores, by file name."""
    return {name: cast(StoreServers, file) for name, file in plugins.files(__name__).items()}
