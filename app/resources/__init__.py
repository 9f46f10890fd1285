"""The shelf of resources, one a file; its name is what a stage's ``resource`` says."""

from __future__ import annotations

from typing import Any

from app import plugins
from app.lock import Stage
from app.resource import Resource
from app.settings import Settings
from app.stores.redis import counter_redis


def kind(name: str) -> Any:
    """The class in one file of the shelf, and no other's libraries with it. Raises KeyError for a resource nobody knows."""
    return plugins.file(__name__, name).Counter


def resource(stage: Stage, settings: Settings, lock_store: Any, name: str = "counter") -> Resource:
    """A number of one stage in one run. Raises KeyError for a resource nobody knows."""
    of = kind(stage.resource)
    client = lock_store if of.in_lock_store else counter_redis(settings)
    made: Resource = of(client, f"lab:{settings.run}:{stage.name}:{name}")
    return made
