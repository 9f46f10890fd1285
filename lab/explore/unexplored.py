"""Why a stage is not explored. The explorer needs a store whose states it can load and read: Redis."""

from __future__ import annotations

from app.lock import Stage

REASONS = {
    "etcd": "it asks etcd, and the explorer cannot load a state into etcd: revisions and leases are the server's own",
    "zookeeper": "it asks ZooKeeper, and the explorer cannot load a state into ZooKeeper: sessions are the server's own",
    "mysql": "it asks MariaDB, and the explorer cannot load a state into MariaDB: locks of rows belong to open transactions",
}
EXPLORED = (None, "redis", "redis_nodes")
INSTEAD = "A run samples its orders: lab run SCENARIO --stage {}"


def why_not(stage: Stage) -> str:
    """Return why a stage is not explored; empty where it is."""
    if stage.store in EXPLORED:
        return ""
    return REASONS.get(str(stage.store), f"it asks {stage.store}, and the explorer knows Redis only")
