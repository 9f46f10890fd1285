"""A real Redis loses power: what is left follows from when it syncs, and from the age of the lock."""

from __future__ import annotations

import pytest

from lab.paths import SCENARIOS
from lab.scenario.scenario import SYNCS
from lab.servers.synced_files import can_see
from tests.command import run

OLD = (SCENARIOS / "power_loss_no.toml").read_text(encoding="utf-8")


@pytest.mark.trial  # ordinary tests have the scenarios power_loss_always and power_loss_everysec
@pytest.mark.parametrize("syncs", SYNCS)
def test_an_old_lock_loses_power(syncs, tmp_path):
    """A lock of more than two seconds is on the disk, unless the store never syncs."""
    if not can_see(tmp_path):
        pytest.skip("this kernel, or the file system of the temporary folder, does not report unsynced pages")
    (tmp_path / "own.toml").write_text(OLD.replace('store_syncs = "no"', f'store_syncs = "{syncs}"'), encoding="utf-8")

    for _ in range(3 if syncs == "no" else 1):
        verdict = run("./own.toml", "lua", tmp_path).verdict
        if verdict["verdict"] != "UNSEEN":  # there another program has synced the whole disk, and nothing is shown
            break

    assert verdict["danger"]["faults"]["seen"] == 1
    assert (verdict["lost"] > 0, verdict["verdict"] == "ADMITTED") == (syncs == "no", syncs == "no"), verdict["why"]
