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
from lab.experiments.result import Point
from lab.interrupts import unless_interrupted
from lab.load.locust import LOCUST, environment, prepare
from lab.paths import HOME, LOCUSTFILE
from lab.prerequisites import program
from lab.scenario.scenario import Scenario
from lab.scenario.stages import find_stage
from lab.servers.cluster import cluster
from lab.servers.process import last_words
from lab.servers.supervisor import Supervisor, supervised

WRK, NO_RECORD, NO_JOURNALS = "wrk", "without recording", "without journals"
LONGEST_S = 180.0  # that a load may take
POST = 'wrk.method = "POST"\n'


class LoadMeter(RunMeter):
    """Loads the servers of a stage for a while. A value is a load generator, or the instrument that is left out."""

    def conditions(self, stage: str, value: str) -> str:
        if value == WRK:
            program("wrk")
        return f"{super().conditions(stage, value)} of Locust, or {self.experiment.for_s:g} s of wrk"

    def measure(self, point: Point) -> None:
        found, value = find_stage(point.stage), point.value
        scenario = self.experiment.fitted(found, value, self.given)
        with tempfile.TemporaryDirectory(prefix="lab-load-") as name, supervised() as supervisor:
            folder = Path(name).resolve()
            prepare(supervisor)
            with cluster(supervisor, found, scenario, "load", folder, journals=value != NO_JOURNALS) as system:
                words = (_wrk if value == WRK else _locust)(system.address, folder, scenario, self.experiment.for_s)
                words += [] if value in (WRK, NO_RECORD) else ["--record", str(folder / "requests.jsonl")]
                point.figures = {"per_s": _driven(supervisor, words, folder)}


def _wrk(address: str, folder: Path, scenario: Scenario, for_s: float) -> list[str]:
    script = folder / "post.lua"
    script.write_text(POST, encoding="utf-8")
    return [program("wrk"), "-t1", f"-c{scenario.users}", f"-d{for_s:g}s", "-s", str(script), f"http://{address}/increment"]


def _locust(address: str, _: Path, scenario: Scenario, _for_s: float) -> list[str]:
    users = str(scenario.users)  # a number of requests, not a time: a forked gevent counts it from its import
    options = ["--host", f"http://{address}", "--users", users, "--spawn-rate", users, "--loglevel", "ERROR"]
    options += ["--requests", str(scenario.requests)]
    return [sys.executable, "-m", "locust", "--headless", "--json", "-f", str(LOCUSTFILE), *options]


def _driven(supervisor: Supervisor, argv: list[str], folder: Path) -> float:
    """Run a load generator to its end. Return how many requests a second were answered. Raises NothingShown."""
    log, is_wrk = folder / "load.log", argv[0].endswith(WRK)
    pid = supervisor.start(argv, environment(), HOME, log, None if is_wrk else LOCUST)
    until_s = time.monotonic() + LONGEST_S
    while supervisor.exit_of(pid) is None and time.monotonic() < until_s:
        unless_interrupted()
        time.sleep(0.05)
    said = log.read_text(encoding="utf-8")
    if is_wrk and "Non-2xx" not in said and (found := re.search(r"Requests/sec: +([\d.]+)", said)):
        return float(found[1])
    if not is_wrk and "[" in said:
        totals = json.loads(said[said.index("[") : said.rindex("]") + 1])
        if totals and not totals[0]["num_failures"]:
            lasted_s: float = totals[0]["last_request_timestamp"] - totals[0]["start_time"]
            return float(totals[0]["num_requests"] / lasted_s)
    raise NothingShown(f"{Path(argv[0]).name} did not get a good answer to each request:\n{last_words(log)}")


METER = LoadMeter
