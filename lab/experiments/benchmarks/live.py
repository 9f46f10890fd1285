"""The cost of the live page for a run, and its delay: whole runs in turn with and without a browser on the page."""

from __future__ import annotations

import http.client
import math
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from time import monotonic_ns

import msgspec

from app.journal import AnyEvent, Got, Released, Writing, Wrote
from app.locks import stages
from lab.evidence.history import Outcome, Request
from lab.experiments.benchmark import Measured, Promise, Unmeasured, pairwise, ratio
from lab.experiments.statistics import mean
from lab.pipeline import by_locust, conduct
from lab.run.runner import COMPLETE, Drive
from lab.scenario import scenario
from lab.servers.cluster import Cluster
from lab.servers.supervisor import Supervisor
from lab.ui.event_stream import encoded
from lab.ui.live_run import LiveRun
from lab.ui.live_server import LiveServer
from lab.ui.live_state import EVERY_S, LiveState
from lab.ui.run_form import RunRequest

STAGE = "none"  # the fastest stage writes most, so most has to be read
LATE = 0.99
FAST_PER_S, REPLICAS, LOOKS = 3000, 3, 50
PER_LOOK = int(FAST_PER_S * EVERY_S)


def measure(pairs: int) -> Iterator[Measured]:
    busy = [_busy() for _ in range(pairs)]
    value, low, high = mean(busy)
    what = f"processor time of following {FAST_PER_S} requests a second, as a share of one core"
    promise = Promise(at_most=0.1)  # 5 % of two cores
    yield Measured(name="live alone", what=what, unit="", value=value, low=low, high=high, promise=promise, samples=busy)
    yield from _watched(pairs)


def _busy() -> float:
    """Let files grow at this speed without a run, and time only the reader, by its own processor clock."""
    encode, now_ns, spent_s, numbers = msgspec.json.Encoder().encode_lines, 0, 0.0, count()
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as name:
        folder = Path(name)
        (folder / "journal").mkdir()
        live = LiveRun(folder, {"requests": 0}, REPLICAS, lambda: now_ns)
        for _ in range(LOOKS):
            taken = [(next(numbers), now_ns + place * int(EVERY_S * 1e9) // PER_LOOK) for place in range(PER_LOOK)]
            now_ns += int(EVERY_S * 1e9)
            requests = [Request(f"r{one}", at_ns, at_ns, at_ns, Outcome.ACKNOWLEDGED, 200, "replica-1") for one, at_ns in taken]
            _append(folder / "requests.jsonl", encode(requests))
            for replica in range(REPLICAS):
                events = [event for one, at_ns in taken[replica::REPLICAS] for event in _events(one, at_ns)]
                _append(folder / "journal" / f"replica-{replica + 1}.jsonl", encode(events))
            began_s = time.thread_time()
            encoded(live.look())
            spent_s += time.thread_time() - began_s
        if live.counter != PER_LOOK * LOOKS:
            raise Unmeasured(f"the counter was seen at {live.counter} instead of {PER_LOOK * LOOKS}")
        live.close()
    return spent_s / (LOOKS * EVERY_S)


def _events(number: int, at_ns: int) -> list[AnyEvent]:
    """Return the journal events of one increment."""
    name = f"r{number}"
    return [
        Got(request=name, key="lock", asked_ns=at_ns, got_ns=at_ns, commands=1),
        Writing(request=name, reading_ns=at_ns, read_ns=at_ns + 100_000, read=number, value=number + 1),
        Wrote(request=name, wrote_ns=at_ns + 200_000, value=number + 1, overwrote=number),
        Released(request=name, releasing_ns=at_ns + 250_000, released_ns=at_ns + 300_000, result="ok", commands=1),
    ]


def _append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def _watched(pairs: int) -> Iterator[Measured]:
    request = RunRequest(stages()[STAGE], scenario.load("rush"), "")
    supervisor, state = Supervisor(), LiveState()
    with tempfile.TemporaryDirectory(prefix="lab-bench-") as name:
        server = LiveServer(state, "127.0.0.1", 0, 0, reports=Path(name))
        watcher = Watcher(server)
        try:
            _run(supervisor, request, Path(name))  # warm
            rates = list(
                pairwise(
                    pairs,
                    lambda: watcher.during(lambda: _run(supervisor, request, Path(name), state)),
                    lambda: _run(supervisor, request, Path(name)),
                )
            )
        finally:
            state.close()
            server.close()
            supervisor.close()
    ratios = [one / other for one, other in rates]
    what = f"throughput with the live page watched, as a share of that of runs that no browser follows, {pairs} pairs"
    remark = f"unwatched {sum(other for _, other in rates) / pairs:.0f} increments a second here"
    yield ratio("live", what, Promise(at_least=0.95), ratios, remark)
    value, low, high = mean(watcher.behind_s)
    what = f"delay from the end of a request to the browser: the oldest request of each message, {LATE:.0%} of messages"
    about = {"name": "live behind", "what": what, "unit": "s", "promise": Promise(at_most=0.25)}
    yield Measured(**about, value=value, low=low, high=high, samples=watcher.behind_s)  # type: ignore[arg-type] # the values have several types


class Watcher:
    """A browser on the live page. behind_s: the delay in each watched run."""

    def __init__(self, server: LiveServer) -> None:
        self.port = server.server_port
        self.behind_s: list[float] = []

    def during(self, run: Callable[[], float]) -> float:
        """Watch during a run, and return the run's result. Raises Unmeasured if no message arrived."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/live/news")
        answer = connection.getresponse()
        answer.readline()  # the state before the run
        late_ns: list[int] = []
        over = threading.Event()
        reader = threading.Thread(target=_read_messages, args=(answer, late_ns, over), daemon=True)
        reader.start()
        rate = run()
        over.set()
        reader.join()
        connection.close()
        if not late_ns:
            raise Unmeasured("a watched run ended, and the browser had received no message")
        late_ns.sort()
        self.behind_s.append(late_ns[math.ceil(LATE * len(late_ns)) - 1] / 1e9)
        return rate


def _read_messages(answer: http.client.HTTPResponse, late_ns: list[int], over: threading.Event) -> None:
    while not over.is_set() and (line := answer.readline()):
        if line.startswith(b"data: "):
            news = msgspec.json.decode(line[len(b"data: ") :])
            if news["kind"] == "judged":
                return
            if news.get("oldest_ns"):
                late_ns.append(monotonic_ns() - news["oldest_ns"])


def _run(supervisor: Supervisor, request: RunRequest, reports: Path, state: LiveState | None = None) -> float:
    """Make one run, and return its increments a second. state: follows the run."""
    drive = by_locust(supervisor, request.scenario, lambda done: None)

    def followed(system: Cluster, folder: Path, well: Callable[[], bool]) -> None:
        if state is not None:
            state.begin(request, folder)
        drive(system, folder, well)

    load: Drive = followed
    done = conduct(supervisor, request.stage, request.scenario, load, "lab bench live", reports=reports)
    rate = done.judgement.throughput_per_s
    if state is not None:
        state.judged(done)
    done.folder.discard()
    if done.record.ended != COMPLETE or not rate:
        raise Unmeasured(f"a run was cut short: {done.record.ended}")
    return rate
