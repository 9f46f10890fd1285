"""Each scenario shows its lesson on a stage that does not promise it, and its cure on one that does; as was expected of them."""

from __future__ import annotations

import json

import pytest

from app.locks import stage as find_stage
from lab.evidence.history import History
from lab.evidence.loss import Mechanism
from lab.experiments.matrix import expectations
from lab.report.matrix_layout import CORE_SCENARIOS
from lab.report.run_page import report_run
from lab.scenario.fault import Need
from lab.scenario.reader import load
from lab.servers.synced_files import can_see
from lab.story.verdict import why as reasons
from tests.cells import CELLS
from tests.command import assert_counts_agree, run, warm
from tests.sampled import sampled
from tools.book.figures import illustrations

# Where the danger needs no more. Waiters behind a stuck lock give up one after the other, and each takes its whole time.
STUCK = ("holder_crash", "crash_while_acquiring", "error_while_acquiring", "failed_release")
FEWER = {name: {"requests": 20} for name in STUCK} | {"rush": {"requests": 1000}, "one_replica": {"requests": 1000, "stock": 500}}
FEWER |= {"starvation": {"requests": 250}, "power_loss_always": {"requests": 80, "rate": 25}}
FEWER |= {"delayed_write": {"requests": 60, "rate": 20}}


def drawn() -> set[str]:
    """Return a scenario for each kind of fault that no picture of the book shows; the book's pictures are drawn elsewhere."""
    kinds = {name: {type(fault) for fault in load(name).faults} for name in CELLS}
    shown = set().union(*(kinds[one.scenario] for one in illustrations().values()))
    chosen = set()
    for name in CELLS:
        chosen |= {name} if kinds[name] - shown else set()
        shown |= kinds[name]
    return chosen


SLOW_TO_START = ("zookeeper", "redis_nodes")


def sample() -> set[tuple[str, str]]:
    """Return few cells that show each kind of fault where it is held off and where it is not, and each scenario of the core."""
    cells = [(name, stage) for name, few in CELLS.items() for stage in few]
    quick = {cell for cell in cells if find_stage(cell[1]).store not in SLOW_TO_START}
    shows = {cell: {*{cell[0]} & CORE, *((type(fault), EXPECTED[cell]) for fault in load(cell[0]).faults)} for cell in cells}
    left, chosen = set().union(*shows.values()), set()
    while left:
        best = max(cells, key=lambda cell: (len(shows[cell] & left), cell in quick))
        chosen.add(best)
        left -= shows[best]
    return chosen


TURNED_AWAY = "try_lock"  # requests are refused at once: no scenario of the core has that
CORE = {*CORE_SCENARIOS, TURNED_AWAY} - {"rush"}  # which is below, and in test_rush.py
EXPECTED = expectations()
DRAWN = drawn() | {TURNED_AWAY}
SAMPLE = sample()


@pytest.mark.parametrize(
    ("scenario", "stage"),
    sampled([(scenario, stage) for scenario, few in CELLS.items() for stage in few], SAMPLE),
)
def test_cell(scenario, stage, try_lock, tmp_path):
    """A stage under a scenario comes to the verdict that is written down, and both ways of counting agree."""
    if any(Need.DISK in fault.needs for fault in load(scenario).faults) and not can_see(tmp_path):
        pytest.skip("this kernel, or the file system of the temporary folder, does not report unsynced pages")
    judgement, _, folder = try_lock(scenario, stage, FEWER.get(scenario, {}))

    assert judgement.verdict == EXPECTED[scenario, stage], reasons(judgement)
    if load(scenario).faults:
        records = list(History(folder).faults())
        assert len(records) == len(load(scenario).faults)
        assert all(record.recovered_ns for record in records)
    if scenario in DRAWN:
        assert report_run(folder)[0].exists()
    if scenario != "delayed_write":  # no journal confirms the write that destroys
        assert_counts_agree(folder)
    if scenario == "slow_holder":
        assert (Mechanism.DELETED_BY_ANOTHER in [one.mechanism for one in judgement.violations]) == (stage == "ttl")


def test_check_judges_again_as_before(tmp_path):
    """Without a lock increments are lost; `lab check` judges the run from its files and comes to the same verdict."""
    done = run("rush", "none", tmp_path, requests=600, stock=300)

    again = warm("check", done.folder, "--json", cwd=tmp_path)

    assert (done.status, done.verdict["verdict"]) == (0, "ADMITTED")
    assert done.verdict["lost"] > 0  # how many depends on the machine: one run lost 872 of 2000, others more than 1000
    assert (again.status, json.loads(again.out)) == (0, done.verdict)
