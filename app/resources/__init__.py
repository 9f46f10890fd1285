"""The shelf of resources, one a file; its name is what a stage's ``resource`` says."""

from __future__ import annotations

import importlib
import pkgutil
from typing import Any

from app.lock import Stage
from app.resource import Resource
from app.settings import Settings
from app.stores.redis import counter_redis


def resources() -> dict[str, Any]:
    """The classes, by file name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: importlib.import_module(f"{__name__}.{name}").Counter for name in names}


def resource(stage: Stage, settings: Settings, lock_store: Any, name: str = "counter") -> Resource:
    """A number of one stage in one run. Raises KeyError for a resource nobody knows."""
    kind = resources()[stage.resource]
    client = lock_store if kind.in_lock_store else counter_redis(settings)
    made: Resource = kind(client, f"lab:{settings.run}:{stage.name}:{name}")
    return made
