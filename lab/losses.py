"""What one mechanism destroyed, in sum, with a few of its writes as evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Losses:
    """What one mechanism destroyed, by how many writes, and the first of them as evidence.

    restored: how many increments were brought back, by writes whose read came before the destruction.
    """

    destroyed: int = 0
    restored: int = 0
    writes: int = 0
    examples: list[dict[str, Any]] = field(default_factory=list)
