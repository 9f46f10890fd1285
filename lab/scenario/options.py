"""Parameters as a command line has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def flags(given: Mapping[str, Any]) -> list[str]:
    """``{"work_ms": 5}`` as ``--work-ms 5``; what is None was not given."""
    return [word for name, value in given.items() if value is not None for word in (f"--{name.replace('_', '-')}", str(value))]
