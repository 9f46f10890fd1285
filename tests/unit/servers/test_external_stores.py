"""A store that is not the lab's own: what is refused before a run."""

import socket

import pytest

from app.locks import stages
from lab.errors import BadInput
from lab.scenario import reader
from lab.servers import external_stores
from tests.command import lab
from tests.every import every


def test_bad_address_is_never_quoted():
    """A wrong address is refused, and no part of it is quoted."""
    with pytest.raises(BadInput) as refusal:
        external_stores.urls({"LAB_REDIS_URL": "redis://me:secret@nowhere"})

    assert "LAB_REDIS_URL" in str(refusal.value)
    assert "secret" not in str(refusal.value)


@every("name", ["store_restart", "failover", "clock_jump", "node_down", "store_restart_persisted", "power_loss_no"])
def test_breaking_scenarios_are_refused(name):
    """A scenario that breaks the store is refused on a store that is not the lab's own."""
    with pytest.raises(BadInput, match=name):
        external_stores.refuse(stages()["lua"], reader.load(name), {"redis": "there:6379"})


@pytest.mark.whole
def test_store_where_nothing_listens(tmp_path):
    """An address where no server listens is refused before anything starts."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]  # nobody's, once this is closed

    done = lab("run", "rush", "--stage", "lua", cwd=tmp_path, env={"LAB_REDIS_URL": f"me:secret@127.0.0.1:{port}"})

    assert done.status == 2
    assert f"LAB_REDIS_URL: no server listens at 127.0.0.1:{port}" in done.err
    assert "secret" not in done.err + done.out
    assert not (tmp_path / "reports" / "runs" / "latest").exists()
