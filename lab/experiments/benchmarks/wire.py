"""The lock of redis-py in a worker, compared with it in the replicas.

The price of a program of its own.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lab.experiments.benchmark import Measured, RatioLimit, pairwise, ratio, run
from lab.paths import HOME, need_clone

REQUESTS = 1000
PAIRS = 6
HERE = '''"""The lock of redis-py, in the replicas."""

from redis.lock import Lock

from app.foreign.adapter import adapted
from app.lock import Stage, claims

STAGE = Stage(lock=adapted(Lock), store="redis", ttl_ms=3000, claims=claims("exclusive"))
'''
THERE = '''"""The lock of redis-py, in a worker."""

from app.lock import Stage, claims

STAGE = Stage(worker={worker}, store="redis", ttl_ms=3000, claims=claims("exclusive"))
'''
LOCK = """import redis


def lock(ports):
    client = redis.Redis(port=ports[0])

    def acquire(key, ttl_ms, wait_ms, retry_ms):
        one = client.lock(key, timeout=ttl_ms / 1000, sleep=retry_ms / 1000, blocking_timeout=wait_ms / 1000)
        return one if one.acquire() else None

    return acquire, lambda held: held.release()
"""


def measure(pairs: int) -> Iterator[Measured]:
    """Compare the increments a second of ``rush``."""
    need_clone()  # the workers are not in the wheel
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as name:
        folder = Path(name)
        (folder / "lock.py").write_text(LOCK, encoding="utf-8")
        worker = json.dumps([sys.executable, str(HOME / "workers" / "worker.py"), str(folder / "lock.py")])
        here, there = folder / "in_the_replicas.py", folder / "in_a_worker.py"
        here.write_text(HERE, encoding="utf-8")
        there.write_text(THERE.format(worker=worker), encoding="utf-8")
        both = pairwise(max(3, min(pairs, PAIRS)), lambda: _per_s(there), lambda: _per_s(here))
        what = "increments a second of redis-py's lock in a worker, as a share of those in the replicas"
        yield ratio("wire", what, RatioLimit(at_least=0.7), both)


def _per_s(stage: Path) -> float:
    return run("rush", str(stage), REQUESTS, acknowledged=True).kept_per_s
