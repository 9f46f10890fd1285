"""A run on a store that is not the lab's own leaves it as it was."""

from __future__ import annotations

import json

import redis

from tests.command import lab


def test_outside_redis_is_left_as_it_was(tmp_path, redis_port):
    """A run on an outside Redis leaves no key in it, and writes its address nowhere."""
    store = redis.Redis(port=redis_port, decode_responses=True)
    store.set("somebody:else", "theirs")
    before = set(store.scan_iter(match="lab:*"))
    url = f"redis://127.0.0.1:{redis_port}/0"

    words = ("run", "holder_crash", "--stage", "setnx", "--requests", "20", "--json", "--no-draw")
    done = lab(*words, cwd=tmp_path, env={"LAB_REDIS_URL": url})

    assert done.verdict["verdict"] == "ADMITTED"
    (note,) = json.loads((done.folder / "run.json").read_text(encoding="utf-8"))["scenario"]["notes"]
    assert "LAB_REDIS_URL" in note
    assert store.get("somebody:else") == "theirs"
    assert set(store.scan_iter(match="lab:*")) <= before  # keys of other tests have a TTL
    files = [path for path in done.folder.rglob("*") if path.is_file()]
    assert [path.name for path in files if url in path.read_text(encoding="utf-8", errors="replace")] == []
