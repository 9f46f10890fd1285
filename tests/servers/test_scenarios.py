"""Scenarios on real servers have the expected verdict. `make matrix` runs each scenario on each stage."""

from __future__ import annotations

import json

import pytest

from lab.evidence.history import History
from lab.experiments.matrix import expectations
from lab.report.run_page import report_run
from lab.scenario.fault import Need
from lab.scenario.reader import load
from lab.servers.synced_files import can_see
from lab.story.verdict import why as reasons
from tests.command import assert_counts_agree, run, warm

# For each kind of fault a stage that survives it: KEPT needs the danger, so the fault was injected. A stage that loses is here if
# no stage survives the fault, or if `tests/servers/test_locks_on_trial.py` has no loss of the kind.
CELLS = [
    ("amnesia_delayed", "redlock"),
    ("clock_back", "lua"),
    ("clock_jump", "fencing"),
    ("cut_off", "watchdog"),
    ("cut_off", "watchdog_abort"),
    ("delayed_write", "fencing"),
    ("error_while_acquiring", "watchdog"),
    ("failover_last_grant", "fencing_owner"),
    ("frozen_holder", "watchdog"),
    ("late_release", "uuid"),
    ("leader_killed", "etcd"),
    ("lost_release", "watchdog"),
    ("lost_reply", "mysql_for_update"),
    ("majority_down", "redlock"),
    ("nested", "local"),
    ("node_down", "etcd"),
    ("pooled_thread", "request_owner"),
    ("power_loss_always", "lua"),
    ("power_loss_everysec", "lua"),
    ("release_race", "uuid"),
    ("renewal_fails_once", "watchdog"),
    ("renewal_stalls", "watchdog_abort"),
    ("session_loss", "etcd"),
    ("session_loss", "mysql_insert"),
    ("split_brain", "lua"),
    ("starvation", "lua"),
    ("store_restart", "lua"),
    ("try_lock", "lua"),
    ("work_fails", "setnx"),
    ("work_hangs", "lua"),
    ("work_outlasts_ttl", "lua"),
]
FEWER = {  # requests, if the danger needs no more
    "error_while_acquiring": {"requests": 20},
    "starvation": {"requests": 250},
    "power_loss_always": {"requests": 80, "rate": 25},
    "delayed_write": {"requests": 60, "rate": 20},
}
# these runs are drawn: one for each kind of fault without a picture in the book, and one whose requests are refused at once
DRAWN = {"clock_back", "delayed_write", "leader_killed", "lost_release", "majority_down", "power_loss_always", "session_loss"}
DRAWN |= {"node_down", "split_brain", "store_restart", "try_lock", "work_hangs"}


@pytest.mark.parametrize(("scenario", "stage"), CELLS)
def test_cell(scenario, stage, try_lock, tmp_path):
    """A stage under a scenario has the expected verdict, and both ways of counting agree."""
    faults = load(scenario).faults
    if any(Need.DISK in fault.needs for fault in faults) and not can_see(tmp_path):
        pytest.skip("this kernel, or the file system of the temporary folder, does not report unsynced pages")
    judgement, _, folder = try_lock(scenario, stage, FEWER.get(scenario, {}))

    assert judgement.verdict == expectations()[scenario, stage], reasons(judgement)
    if faults:
        records = list(History(folder).faults())
        assert len(records) == len(faults)
        assert all(record.recovered_ns for record in records)
    if scenario in DRAWN:
        assert report_run(folder)[0].exists()
    if scenario != "delayed_write":  # no journal confirms the write that destroys an increment
        assert_counts_agree(folder)


def test_check_judges_again_as_before(tmp_path):
    """Without a lock increments are lost; `lab check` judges the run from its files and comes to the same verdict."""
    done = run("rush", "none", tmp_path, requests=300, users=20, stock=150)

    again = warm("check", done.folder, "--json", cwd=tmp_path)

    assert (done.status, done.verdict["verdict"]) == (0, "ADMITTED")
    assert done.verdict["lost"] > 0  # how many depends on the machine: one run lost 872 of 2000, others more than 1000
    assert (again.status, json.loads(again.out)) == (0, done.verdict)
