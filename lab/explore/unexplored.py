"""Why a stage is not explored: the explorer knows the stores of the lab, and no others."""

from __future__ import annotations

from app.lock import Stage
from lab.explore.store.others import STORES

EXPLORED = (None, "redis", "redis_nodes", *STORES)
INSTEAD = "A run samples its orders: lab run SCENARIO --stage {}"


def why_not(stage: Stage) -> str:
    """Return why a stage is not explored; empty where it is."""
    return "" if stage.store in EXPLORED else f"it asks {stage.store}, which the explorer does not know"
