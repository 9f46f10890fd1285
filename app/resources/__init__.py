"""Make the resource of a stage. Each file here is one resource; a stage names the file in its ``resource``."""

from __future__ import annotations

from typing import Any

from app.lock import Stage
from app.resource import Resource
from app.settings import Settings
from app.shelf import plugins
from app.stores.redis import counter_redis


def kind(name: str) -> Any:
    """Return the class of one resource; libraries of other resources are not imported. Raises KeyError for an unknown name."""
    return plugins.file(__name__, name).Counter


def resource(stage: Stage, settings: Settings, lock_store: Any, name: str = "counter") -> Resource:
    """Make the number of one stage in one run. Raises KeyError for an unknown resource."""
    counter = kind(stage.resource)
    client = lock_store if counter.in_lock_store else counter_redis(settings)
    number: Resource = counter(client, f"lab:{settings.run}:{stage.name}:{name}")
    if hasattr(number, "stock"):  # one command reads, decides and writes
        number.stock = settings.stock
    return number


def stock_of_a_grant(stage: Stage, settings: Settings) -> int | None:
    """Return how many items there are in the part of the resource that a grant guards; None for a number that only grows."""
    return None if settings.stock is None else settings.stock // getattr(kind(stage.resource), "parts_of_stock", 1)
