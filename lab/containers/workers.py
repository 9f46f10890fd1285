"""Locust's workers in containers of their own: each joins the master of this run and sends its exact share."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from lab.containers.server import RecordFetcher
from lab.load.locust import MASTER_PORT, RECORD
from lab.scenario.scenario import Scenario
from lab.servers.server import LoadWorker


@contextlib.contextmanager
def load_workers(workers: Sequence[LoadWorker], scenario: Scenario, host: str, folder: Path) -> Iterator[None]:
    """Run the Locust workers for the duration of the block. Raises OSError, NotReady.

    The request logs of workers on other hosts are copied to this one.
    """
    options = {"host": f"http://{host}", "master-port": MASTER_PORT, "expect-workers": len(workers)}
    with contextlib.ExitStack() as ending:
        for worker in workers:
            ending.callback(worker.end_run)
            options["master-host"] = worker.lab_address()
            worker.begin_run(locustfile=scenario.load, options=options, record=str(folder / RECORD))
            if not worker.ask("GET", "/")["shared"]:
                fetching = RecordFetcher(worker, folder / RECORD)
                fetching.start()
                ending.callback(fetching.close)
        yield
