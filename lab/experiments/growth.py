"""The cost of a run as it grows: time, processor and memory of each part, size on disk, judging and
drawing.

Each point is a run of its own. Some five times a second, the lab samples what each of its processes
has used so far. What a process uses between the last sample and its end is missing, which is little
for a run of several seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import IO

import msgspec
import psutil

from app.locks import stages
from lab.errors import BadInput, ExitStatus, NothingShown
from lab.experiments.measurement import Measurement, made_now, new_place, record
from lab.judge.judgement import Judgement
from lab.paths import REPORTS
from lab.prerequisites import program
from lab.scenario import reader
from lab.scenario.options import flags
from lab.scenario.requirements import servers
from lab.story.verdict import why

LOOK_EVERY_S = 0.2
MIB = 2**20
STORE_PROGRAMS = ("redis-server", "mariadbd", "zookeeper", "etcd")
PARTS = ("locust", "nginx", "replicas", "counter's store", "lock's store", "the lab")
# the name of a series, the varied option, the stage, the values, and the fixed options
SERIES: tuple[tuple[str, str, str, tuple[int, ...], dict[str, int]], ...] = (
    ("requests", "requests", "incr", (5000, 50_000, 500_000), {}),
    ("users", "users", "incr", (100, 500, 2000), {"requests": 20_000}),
    ("waiters", "users", "lua", (25, 100, 500, 2000), {"requests": 5000}),
    ("replicas", "replicas", "incr", (3, 6, 12), {"requests": 20_000}),
    ("processes", "processes", "incr", (1, 2, 4), {"requests": 20_000}),
)
STORES = ("lua", "queued", "mysql_for_update", "zookeeper", "etcd")  # one lock of each store, to measure the store


Planned = tuple[str, int, str, dict[str, int]]  # the series, the value, the stage, the options of `lab run`


class GrowthPoint(msgspec.Struct, kw_only=True):
    """One run."""

    varied: str  # its series; ``store`` for the stages of STORES
    value: int
    stage: str
    verdict: str
    why: str  # the reason of a verdict other than KEPT
    requests: int
    per_s: float
    wait_p99_ms: float
    cpu_ms: dict[str, float]  # processor time for each request, by part
    peak_mib: dict[str, float]  # the largest resident memory, by part; pages that processes share count in each of them
    folder_mib: float
    judging_s: float
    judging_mib: float
    drawing_s: float
    drawing_mib: float
    lock_servers: int  # how many servers the lock's store had

    def line(self) -> str:
        """Return the point as a line for the terminal."""
        judging = f"judged: {self.judging_s:.1f} s, {self.judging_mib:.0f} MiB"
        drawing = f"drawn: {self.drawing_s:.1f} s, {self.drawing_mib:.0f} MiB"
        which = f"{self.varied:10}{self.value:>8}  {self.stage:18}{self.verdict:9}"
        return f"{which}{self.per_s:7.0f} kept a second; {judging}; {drawing}" + (
            f"; {self.why}" if self.verdict != "KEPT" else ""
        )


Growth = Measurement[GrowthPoint]  # growth.json
FILE = "growth.json"


def measure(planned: Iterable[Planned], command: str, into: Path | None, report: Callable[[GrowthPoint], None]) -> int:
    """Run ``lab growth``: make the planned runs one after the other. Return 0. Raises MissingProgram, NothingShown."""
    runs = list(planned)
    found: Growth = made_now(Growth, command=command, planned=len(runs))
    record(found, (_point(*one) for one in runs), (into or new_place("growth")) / FILE, report)
    return ExitStatus.GOOD


def plan(most_requests: int) -> Iterator[Planned]:
    """Return all series, without the runs of more requests than ``most_requests``.

    Raises BadInput before the first run where the limit is too small for the first run of a series.
    """
    least = max(values[0] for _, option, _, values, _ in SERIES if option != "requests")
    if most_requests < least:
        raise BadInput(f"--most-requests must be at least {least}, not {most_requests}: a series begins with {least} users")
    for varied, option, stage, values, fixed in SERIES:
        for value in values:
            options = fixed | {option: value}
            if value <= most_requests or value == values[0]:
                yield varied, value, stage, options | {"requests": min(options["requests"], most_requests)}
    for number, stage in enumerate(STORES):
        yield "store", number, stage, {"requests": min(2000, most_requests)}


def _point(varied: str, value: int, stage: str, options: Mapping[str, int]) -> GrowthPoint:
    with tempfile.TemporaryDirectory(prefix="lab-growth-") as name:
        done = run(["run", "rush", "--stage", stage, "--json", "--no-draw", "--wait-ms", "60000", *flags(options)], name)
        if not done.out.startswith("{"):
            raise NothingShown(f"{stage} with {varied} {value} ended with {done.status}: {done.err.strip()[-300:]}")
        judgement = Judgement.decode(done.out)
        folder = Path(name) / REPORTS / "runs" / judgement.run
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        judging, drawing = run(["check", str(folder)], name), run(["report", str(folder)], name)
        shutil.rmtree(folder)
    return GrowthPoint(
        varied=varied,
        value=value,
        stage=stage,
        lock_servers=servers(stages()[stage].store, reader.load("rush").store_nodes),
        verdict=judgement.verdict,
        why=why(judgement),
        requests=judgement.requests,
        per_s=judgement.kept_per_s,
        wait_p99_ms=judgement.wait_ms["p99"],
        cpu_ms={part: round(1000 * used / judgement.requests, 4) for part, used in done.cpu_s.items()},
        peak_mib={part: round(peak, 1) for part, peak in done.peak_mib.items()},
        folder_mib=round(size / MIB, 2),
        judging_s=round(judging.took_s, 2),
        judging_mib=round(judging.most_mib, 1),
        drawing_s=round(drawing.took_s, 2),
        drawing_mib=round(drawing.most_mib, 1),
    )


class UsedByCommand:
    """A command of the lab in a process of its own, and what it and its descendants used."""

    def __init__(self, argv: Sequence[str], folder: str) -> None:
        self.cpu_s: dict[str, float] = defaultdict(float)
        self.peak_mib: dict[str, float] = defaultdict(float)
        self._used: dict[int, tuple[str, float]] = {}
        began_s = monotonic()
        with tempfile.TemporaryFile("w+", dir=folder) as out, tempfile.TemporaryFile("w+", dir=folder) as err:
            process = subprocess.Popen(argv, cwd=folder, stdout=out, stderr=err)
            over = threading.Event()
            watcher = threading.Thread(target=self._watch, args=(process.pid, over))
            watcher.start()
            try:
                _, waited, usage = os.wait4(process.pid, 0)
            except BaseException:  # a signal ends the command as well, which then leaves nothing behind
                process.terminate()
                process.wait()
                raise
            finally:
                over.set()
                watcher.join()
            process.returncode = os.waitstatus_to_exitcode(waited)
            self.status, self.most_mib = process.returncode, usage.ru_maxrss / 1024
            self.own_cpu_s = usage.ru_utime + usage.ru_stime
            self.took_s = monotonic() - began_s
            self.out, self.err = (_whole(stream) for stream in (out, err))
        for part, used in self._used.values():
            self.cpu_s[part] += used

    def _watch(self, pid: int, over: threading.Event) -> None:
        while not over.wait(LOOK_EVERY_S):
            now_mib: dict[str, float] = defaultdict(float)
            for process in _family(pid):
                try:
                    with process.oneshot():
                        part, times, memory = _part(process), process.cpu_times(), process.memory_info()
                except psutil.Error:
                    continue
                self._used[process.pid] = (part, times.user + times.system)
                now_mib[part] += memory.rss / MIB
            for part, mib in now_mib.items():
                self.peak_mib[part] = max(self.peak_mib[part], mib)


def _whole(stream: IO[str]) -> str:
    stream.seek(0)
    return stream.read()


def run(words: Sequence[str], folder: str) -> UsedByCommand:
    return UsedByCommand([program("lab"), *words], folder)


def _family(pid: int) -> list[psutil.Process]:
    try:
        head = psutil.Process(pid)
        return [head, *head.children(recursive=True)]
    except psutil.Error:
        return []


def _part(process: psutil.Process) -> str:
    """Return the part to which a process belongs, by its command; the two Redis by their folder."""
    line = " ".join(process.cmdline())
    if not line:  # a process that is ending has no command any more; the earlier sample counts
        raise psutil.ZombieProcess(process.pid)
    if "--version" in line:  # asks a program's version for the record
        return "the lab"
    if "locust" in process.cmdline():
        return "locust"
    if "gunicorn" in line:
        return "replicas"
    if "nginx" in line:
        return "nginx"
    if Path(process.cwd()).name == "counter-redis":
        return "counter's store"
    return "lock's store" if any(name in line for name in STORE_PROGRAMS) else "the lab"
