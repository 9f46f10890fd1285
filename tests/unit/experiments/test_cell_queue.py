"""Cells of a store that is slow to start run one after the other in one worker; the other cells fill the other workers."""

from __future__ import annotations

from itertools import chain

from lab.experiments.cell_queue import LOOSE, CellQueue
from tests.every import every

CELLS = [*(("zookeeper", f"z{number}") for number in range(3)), *((LOOSE, f"r{number}") for number in range(5)), ("etcd", "e0")]


def names(queue: CellQueue[str], jobs: int) -> list[list[str]]:
    """Let workers take turns until the queue is empty. Return what each worker ran."""
    ran: list[list[str]] = [[] for _ in range(jobs)]
    held = [queue.take() for _ in range(jobs)]
    while any(held):
        for number, taken in enumerate(held):
            if taken is not None:
                ran[number].append(taken[1])
                held[number] = queue.go_on(taken[0])
    return ran


def test_a_train_has_one_worker():
    """One of two workers runs the longest train, and then the next; the other runs what needs no servers of before."""
    assert names(CellQueue(CELLS, 2), 2) == [["z0", "z1", "z2", "e0", "r4"], ["r0", "r1", "r2", "r3"]]


def test_several_trains_move_with_more_workers():
    """Of four workers, two may run trains."""
    ran = names(CellQueue(CELLS, 4), 4)

    assert ran[0] == ["z0", "z1", "z2"]
    assert ran[1][0] == "e0"


def test_no_worker_waits_for_a_train():
    """At the end, a worker without cells takes the next train, and then helps with one that is moving."""
    ran = names(CellQueue([("zookeeper", f"z{number}") for number in range(4)], 2), 2)

    assert [len(some) for some in ran] == [2, 2]


@every("jobs", [1, 2, 3, 16])
def test_every_cell_is_run_once(jobs):
    """No cell is lost, and none is run twice."""
    assert sorted(chain(*names(CellQueue(CELLS, jobs), jobs))) == sorted(cell for _, cell in CELLS)
