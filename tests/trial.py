"""Try a lock: one run on real servers, made and judged in this process.

A run costs a fifth less processor time than by the command: the requests of a closed loop come from threads of this process, and
neither the command nor Locust has to start.
"""

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from time import monotonic_ns
from typing import NamedTuple

import msgspec

from app.journal import LineFile
from lab.evidence.history import Outcome, Request, outcome_of
from lab.judge.judgement import Judgement, Verdict
from lab.load.locust import RECORD
from lab.pipeline import by_locust, conduct
from lab.run.runner import Drive
from lab.scenario import reader as scenarios
from lab.scenario.scenario import Scenario, override
from lab.scenario.stages import find_stage
from lab.servers.cluster import Cluster
from lab.servers.supervisor import Supervisor
from tests.command import NO_EVIDENCE


class Tried(NamedTuple):
    """A run that was judged."""

    judgement: Judgement
    # the claims that the stage makes, by name
    claims: set[str]
    # of the run's evidence
    folder: Path


def trial(supervisor: Supervisor, scenario_name: str, stage_name: str, given: Mapping[str, int | float], reports: Path) -> Tried:
    """Run a stage, or the lock in a file, under a scenario, and judge the run."""
    stage = find_stage(stage_name)
    scenario = override(scenarios.load(scenario_name), stage, given)
    drive = by_locust(supervisor, scenario, lambda count: None) if scenario.rate else by_threads(scenario)
    done = conduct(supervisor, stage, scenario, drive, "a test", reports)
    done.folder.publish()
    return Tried(done.judgement, {claim.name for claim in stage.claims}, done.folder.path)


MADE_AGAIN = "run made again"  # the name of a test's property: pytest's summary counts them


def is_evidence(judgement: Judgement) -> bool:
    """Return whether a run shows anything. A busy machine can keep a run from its danger; such a run proves nothing."""
    return judgement.verdict is not Verdict.VOID or not any(one.code in NO_EVIDENCE for one in judgement.why)


def condemned(judgement: Judgement) -> bool:
    """Return whether a run condemns a lock. A single run can miss a lock that fails only sometimes."""
    return judgement.verdict is Verdict.BROKEN


def until_settled(
    make: Callable[[], Tried], is_settled: Callable[[Judgement], bool], most: int, again: Callable[[Judgement], object]
) -> Tried:
    """Make runs until one settles the question, at most ``most``. ``again`` takes the earlier judgements. Return the last run."""
    for _ in range(most - 1):
        if is_settled((tried := make()).judgement):
            return tried
        again(tried.judgement)
    return make()


def by_threads(scenario: Scenario) -> Drive:
    """Return a drive for a closed loop: each user is a thread, and sends its next request when it has its answer."""

    def drive(system: Cluster, folder: Path, well: Callable[[], bool]) -> None:
        record, numbers = LineFile(folder / RECORD), iter(range(scenario.requests))

        def user() -> None:
            host, port = system.address.split(":")
            connection = HTTPConnection(host, int(port), timeout=scenario.request_timeout_s)
            for request in sent(connection, numbers):
                record.append(request)
            connection.close()

        with ThreadPoolExecutor(scenario.users) as users:
            for ended in [users.submit(user) for _ in range(scenario.users)]:
                ended.result()

    return drive


def sent(connection: HTTPConnection, numbers: Iterator[int]) -> Iterator[Request]:
    """Send a request for each number, and yield its facts when it is over. Other threads take numbers as well."""
    for number in numbers:
        status, answer, start_ns = 0, {}, monotonic_ns()
        try:
            connection.request("POST", "/increment", headers={"X-Request-ID": f"r{number}"})
            response = connection.getresponse()
            status, body = response.status, response.read()
            answer = msgspec.json.decode(body)
        except (OSError, HTTPException, msgspec.DecodeError):  # a proxy's error page, or no answer
            connection.close()  # the next request makes a new connection
        outcome = outcome_of(status, answer.get("replica", ""), answer.get("sold_out", False))
        value = answer.get("value") if outcome is Outcome.ACKNOWLEDGED else None
        times = start_ns, start_ns, monotonic_ns()
        yield Request(f"r{number}", *times, outcome, status, answer.get("replica", ""), value)
