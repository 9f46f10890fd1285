"""The price of a worker: the lock of redis-py in a program of its own, compared with the same lock in the replicas."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lab.experiments.benchmark import Measured, RatioLimit, Unmeasured, pairwise, ratio
from lab.experiments.child_run import NoVerdict, child_run
from lab.paths import HOME, need_clone
from lab.story.verdict import why

REQUESTS = 1000
PAIRS = 6
HERE = '''"""The lock of redis-py, in the replicas."""

from redis.lock import Lock

from app.adapter import adapted
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
        number = max(3, min(pairs, PAIRS))
        ratios = [one / other for one, other in pairwise(number, lambda: _per_s(there), lambda: _per_s(here))]
    what = f"increments a second of redis-py's lock in a worker, as a share of those in the replicas, {number} pairs"
    yield ratio("wire", what, RatioLimit(at_least=0.7), ratios)


def _per_s(stage: Path) -> float:
    try:
        judgement = child_run(["rush", "--stage", str(stage), "--requests", str(REQUESTS), "--no-draw"])
    except NoVerdict as failure:
        raise Unmeasured(str(failure)) from None
    if judgement.acknowledged != REQUESTS:
        raise Unmeasured(f"rush on {stage.stem} served {judgement.acknowledged} of {REQUESTS} requests: {why(judgement)}")
    return judgement.kept_per_s
