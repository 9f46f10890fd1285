"""Servers under a load that is not judged: by ``wrk`` or by Locust, with the lab's instruments or without one of them."""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from pathlib import Path

from lab.errors import NothingShown
from lab.experiments.measures.run import RunMeter
from lab.experiments.meter import Used
from lab.experiments.result import Point
from lab.interrupts import unless_interrupted
from lab.load.locust import LOCUST, environment, prepare
from lab.paths import LOCUSTFILES
from lab.prerequisites import program
from lab.scenario.scenario import Scenario
from lab.scenario.stages import find_stage
from lab.servers.cluster import cluster
from lab.servers.process import last_words
from lab.servers.supervisor import Supervisor, supervised

WRK, NO_RECORD, NO_JOURNALS, NO_COUNTING = "wrk", "without recording", "without journals", "without counting"
UNCOUNTED = Path(__file__).parents[1] / "uncounted"  # copies of stages whose commands nobody counts
LONGEST_S = 180.0  # that Locust may take for its requests
POST = 'wrk.method = "POST"\n'


class LoadMeter(RunMeter):
    """Loads the servers of a stage for a while. A value is a load generator, or the instrument that is left out."""

    def conditions(self, stage: str, value: str) -> str:
        if value == WRK:
            program("wrk")
        return f"{super().conditions(self._served(stage, value), value)} of Locust, or {self.experiment.for_s:g} s of wrk"

    def point(self, stage: str, value: str, repeat: int) -> Point:
        served = find_stage(self._served(stage, value))
        scenario = self.experiment.fitted(served, value, self.given)
        with tempfile.TemporaryDirectory(prefix="lab-load-") as name, supervised() as supervisor:
            folder = Path(name).resolve()
            prepare(supervisor)
            with cluster(supervisor, served, scenario, "load", folder, journals=value != NO_JOURNALS) as system:
                used, argv = Used(supervisor.pid, system), _wrk if value == WRK else _locust
                words = argv(system.address, folder, scenario, self.experiment.for_s)
                words += [] if value in (WRK, NO_RECORD) else ["--record", str(folder / "requests.jsonl")]
                requests, per_s = _driven(supervisor, words, folder, self.experiment.for_s)
                used.end()
        figures = {"per_s": per_s, **used.figures(requests)}
        return Point(stage=stage, value=value, repeat=repeat, figures={one: figures[one] for one in self.experiment.figures})

    def _served(self, stage: str, value: str) -> str:
        return str(UNCOUNTED / f"{stage}_uncounted.py") if value == NO_COUNTING else stage


def _wrk(address: str, folder: Path, scenario: Scenario, for_s: float) -> list[str]:
    (folder / "post.lua").write_text(POST, encoding="utf-8")
    url = f"http://{address}/increment"
    return [program("wrk"), "-t1", f"-c{scenario.users}", f"-d{for_s:g}s", "-s", str(folder / "post.lua"), url]


def _locust(address: str, _: Path, scenario: Scenario, _for_s: float) -> list[str]:
    options = {
        "locustfile": LOCUSTFILES / "rush.py",
        "host": f"http://{address}",
        "users": scenario.users,
        "spawn-rate": scenario.users,
    }
    options |= {"requests": scenario.requests, "loglevel": "ERROR"}  # not a time: a forked gevent counts it from its import
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "locust", "--headless", "--json", *words]


def _driven(supervisor: Supervisor, argv: list[str], folder: Path, for_s: float) -> tuple[int, float]:
    """Run a load generator to its end. Return how many requests were answered, and how many a second. Raises NothingShown."""
    log, is_wrk = folder / "load.log", argv[0].endswith(WRK)
    pid = supervisor.start(argv, environment(), LOCUSTFILES.parent, log, None if is_wrk else LOCUST)
    until_s = time.monotonic() + for_s + LONGEST_S
    while supervisor.exit_of(pid) is None and time.monotonic() < until_s:
        unless_interrupted()
        time.sleep(0.05)
    said = log.read_text(encoding="utf-8")
    if is_wrk and "Non-2xx" not in said and (found := re.search(r"(\d+) requests in ([\d.]+)s", said)):
        return int(found[1]), int(found[1]) / float(found[2])
    if not is_wrk and "[" in said:
        for total in json.loads(said[said.index("[") : said.rindex("]") + 1]):
            if total["num_failures"]:
                break
            requests = total["num_requests"]
            return requests, requests / (total["last_request_timestamp"] - total["start_time"])
    raise NothingShown(f"{Path(argv[0]).name} did not get a good answer to each request:\n{last_words(log)}")


METER = LoadMeter
