"""The shelf of stores as the lab runs them, one a file."""

from __future__ import annotations

import importlib
import pkgutil
from typing import cast

from lab.store import Store


def stores() -> dict[str, Store]:
    """The stores, by file name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return {name: cast(Store, importlib.import_module(f"{__name__}.{name}")) for name in names}
