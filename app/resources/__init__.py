"""The resources, one a file; a stage names the file in its ``resource``."""

from __future__ import annotations

from typing import Any

from app.lock import Stage
from app.resource import Resource
from app.settings import Settings
from app.shelf import plugins
from app.stores.redis import counter_redis


def kind(name: str) -> Any:
    """Return the class of one resource, without the libraries of the others. Raises KeyError for an unknown name."""
    return plugins.file(__name__, name).Counter


def resource(stage: Stage, settings: Settings, lock_store: Any, name: str = "counter") -> Resource:
    """Make the number of one stage in one run. Raises KeyError for an unknown resource."""
    of = kind(stage.resource)
    client = lock_store if of.in_lock_store else counter_redis(settings)
    made: Resource = of(client, f"lab:{settings.run}:{stage.name}:{name}")
    if hasattr(made, "stock"):  # one command reads, decides and writes
        made.stock = settings.stock
    return made


def stock_of_a_grant(stage: Stage, settings: Settings) -> int | None:
    """Return how many items there are in the part of the resource that a grant guards; None for a number that only grows."""
    return None if settings.stock is None else settings.stock // getattr(kind(stage.resource), "parts_of_stock", 1)
