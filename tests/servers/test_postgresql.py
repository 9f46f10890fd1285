"""Locks in a real PostgreSQL: a lost session, and a client that the lab does not see."""

from __future__ import annotations

from pathlib import Path

from tests.command import run

ADVISORY = str(Path(__file__).parents[2] / "libraries" / "pypi_psycopg.py")
UNSEEN = """
from app.lock import Grant, Stage, claims

class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store, self.key = store, key

    def run(self, work):
        with self.store.plain() as connection:
            connection.pgconn.exec_(b"SELECT pg_advisory_lock(1)")  # as a client in C: below psycopg
            result = work(Grant(self.key))
            connection.pgconn.exec_(b"SELECT pg_advisory_unlock(1)")
            return result

STAGE = Stage(lock=Lock, store="postgresql", claims=claims("exclusive held_to_the_end"))
"""


def test_lost_session(tmp_path):
    """A session that is cut loses its lock while its holder works, and an increment is lost."""
    done = run("session_loss", ADVISORY, tmp_path)

    assert done.verdict["verdict"] == "ADMITTED", done.verdict["why"]
    assert done.verdict["lost"] >= 1


def test_unseen_client(tmp_path):
    """A lock whose statements the lab does not see is VOID: the server counted commands that no replica reported."""
    stage = tmp_path / "unseen.py"
    stage.write_text(UNSEEN, encoding="utf-8")

    done = run("rush", str(stage), tmp_path, requests=60, users=10)

    assert done.verdict["verdict"] == "VOID"
    assert "unseen_commands" in {why["code"] for why in done.verdict["why"]}
