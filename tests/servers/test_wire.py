"""Locks in programs of other languages: their commands are seen, faults are injected, and the judge decides as for any lock."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import psutil
import pytest

from lab.paths import HOME
from tests.command import run, wait_for, warm
from tests.sampled import sampled

WORKERS = HOME / "workers"
LANGUAGES = {
    "python": ([sys.executable, str(WORKERS / "worker.py"), str(WORKERS / "example.py")], 0),
    "node": (["node", str(WORKERS / "worker.mjs"), str(WORKERS / "example.mjs")], 0),
    "php": (["php", str(WORKERS / "worker.php"), str(WORKERS / "example.php")], 1),
}
ANSWERING = """
import sys
for line in sys.stdin:
    lane, verb, *_ = line.split()
    if lane not in ("lane", "drop"):
        print({}, flush=True)
"""
FENCE = str(Path(__file__).with_name("workers") / "fence.py")
STAGE = """
from app.lock import Stage, claims

STAGE = Stage(worker={worker!r}, claims=claims("{claims}"), {others})
"""
CLAIMS = "exclusive releases_only_its_own releases_atomically freed_after_crash"


def write(folder: Path, worker: list[str], lanes: int = 0, claims: str = CLAIMS, **others: str) -> str:
    record = {"worker_lanes": lanes, "store": "redis", "ttl_ms": 3000} | others
    words = ", ".join(f"{name}={value!r}" for name, value in record.items())
    (folder / "wired.py").write_text(STAGE.format(worker=worker, claims=claims, others=words), encoding="utf-8")
    return "./wired.py"


@pytest.mark.parametrize(
    ("language", "release", "verdict"),
    sampled(
        [(language, *case) for language in LANGUAGES for case in (("own", "KEPT"), ("any", "BROKEN"))],
        [("php", "any", "BROKEN")],  # `test_lock_test.py` runs the lock that `lab new` writes for node
    ),
)
def test_lock_of_a_worker(language, release, verdict, tmp_path):
    """In each language a worker that compares is KEPT, and one that deletes any key is BROKEN; all its commands are counted."""
    command, lanes = LANGUAGES[language]
    stage = write(tmp_path, [*command, f"release={release}"], lanes)

    done = run("slow_holder", stage, tmp_path)

    record = json.loads((done.folder / "run.json").read_text(encoding="utf-8"))
    assert done.verdict["verdict"] == verdict, done.err
    assert record["stage"]["worker"] == [*command, f"release={release}"]
    assert record["commands"]["lock"]["set"] > record["scenario"]["requests"]


def test_worker_with_a_fence(tmp_path):
    """A worker can give large fences; a freeze of its replica stops it too, and its late write is refused."""
    command, lanes = LANGUAGES["python"]
    stage = write(tmp_path, [*command[:2], FENCE], lanes, f"{CLAIMS} survives_a_freeze", resource="fenced")

    done = run("frozen_holder", stage, tmp_path)

    assert done.verdict["verdict"] == "KEPT", done.verdict["why"]


def test_worker_dies_with_its_replica(tmp_path):
    """A worker ends with its replica: its lock is not released, and the TTL frees it."""
    command, lanes = LANGUAGES["python"]
    own = str(shutil.copy(WORKERS / "example.py", tmp_path))  # a file that no other test runs

    done = run("holder_crash", write(tmp_path, [*command[:2], own], lanes), tmp_path)

    assert done.verdict["verdict"] == "KEPT", done.err
    wait_for(lambda: not [one for one in psutil.process_iter(["cmdline"]) if own in (one.info["cmdline"] or [])])


@pytest.mark.parametrize(
    ("worker", "status", "said"),
    sampled(
        [
            (["nodee", "x.mjs"], 2, "the program 'nodee' of the worker is not installed"),
            (["sh", "-c", "exit 3"], 4, "ended with status 3"),
            ([sys.executable, "-c", ANSWERING.format("lane, 'maybe'")], 4, "it is no answer to acquire. The answers are yes"),
            ([sys.executable, "-c", ANSWERING.format("77, 'yes'")], 4, "'77' is not a lane. The lanes are 0"),
            ([sys.executable, "-c", ANSWERING.format("lane, 'yes', 'x'")], 4, "the fence 'x' is not a whole number"),
        ],
        [["nodee", "x.mjs"], ["sh", "-c", "exit 3"]],
    ),
)
def test_bad_worker(worker, status, said, tmp_path):
    """A worker that is missing, ends, or does not keep to the protocol ends the run with the reason."""
    done = run("rush", write(tmp_path, worker), tmp_path, requests=30)

    assert (done.status, said in done.err) == (status, True), done.err


def test_every_order_is_refused(tmp_path):
    """The explorer refuses a lock in a program of its own, whose threads it cannot lead."""
    command, lanes = LANGUAGES["python"]

    done = warm("explore", write(tmp_path, command, lanes), cwd=tmp_path)

    assert (done.status, "in a program of its own" in done.err) == (2, True), done.err
