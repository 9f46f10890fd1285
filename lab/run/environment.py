"""Record the environment of a run: versions, machine, commit, fingerprints of the code, and how busy other programs were.

Records are shared, so they have no host name and no path.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import psutil

from lab.paths import HOME, INSTALLED
from lab.prerequisites import PROGRAMS, ZOOKEEPER_JARS, printed_version

SERVERS = ("redis-server", "nginx", "mariadbd", "postgres", "etcd")
JUDGE = ("lab/judge", "lab/evidence")  # the folders that decide how evidence is read and judged
# the folders that decide the events of a run, without the folders that draw or report it
CODE = (*JUDGE, "app", "lab/load", "lab/run", "lab/scenario", "lab/servers", "locustfiles", "scenarios")


@cache
def packages() -> dict[str, str]:
    """Return the versions of Python and of the libraries that affect a result; empty if one is not installed."""
    libraries = ("locust", "gunicorn", "flask", "redis", "gevent", "kazoo", "etcd3gw", "pymysql", "psycopg", "sqlalchemy")
    versions_of = dict.fromkeys(libraries, "")
    for name in libraries:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):  # it is of an extra
            versions_of[name] = importlib.metadata.version(name)
    return {"python": platform.python_version()} | {f"{name} (package)": version for name, version in versions_of.items()}


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python, of the libraries that affect a result, and of the servers that this machine has."""
    programs = [(program, program.found()) for program in PROGRAMS if program.name in SERVERS]
    servers = {program.name: printed_version(path, program.version_flag) if path else "" for program, path in programs}
    # a file next to the Java archive has the version in its name
    names = [near.name for jar in ZOOKEEPER_JARS for near in Path(jar).parent.glob(f"{Path(jar).stem}-[0-9]*.jar")]
    servers["zookeeper"] = next(iter(names), "")
    return packages() | servers


@cache
def machine() -> dict[str, str | int | float]:
    """Return the cores, the memory and the system."""
    model = ""
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return {
        "system": f"{platform.system()} {platform.release()}",
        "processor": model or platform.processor() or platform.machine(),
        "cores": psutil.cpu_count() or 1,
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
    }


@cache
def commit() -> str:
    """Return the project's commit, with + if files differ from it; empty outside a checkout, or if an image does not know it."""
    if built_from := os.environ.get("LAB_COMMIT"):  # an image has no repository, but knows the commit that it was built from
        return built_from
    git = shutil.which("git")
    if git is None or INSTALLED:  # an installed lab may be inside a repository of another project
        return ""
    describe = [git, "-C", str(HOME), "describe", "--always", "--abbrev=12", "--dirty=+"]
    done = subprocess.run(describe, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def fingerprint(folders: Sequence[str], home: Path = HOME) -> str:
    """Return twelve digits that change as soon as a source or scenario in these folders of the project changes."""
    total = hashlib.sha256()
    for path in sorted(path for folder in folders for path in (home / folder).rglob("*") if path.suffix in (".py", ".toml")):
        total.update(f"{path.relative_to(home)} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()[:12]


SPENT = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")  # the time of a guest system is part of ``user``
TICKS_S = 0.5  # a shorter time has too few of the kernel's clock ticks


class Processors:
    """Measure how much of the processors' time, from now on, the run takes, and how much programs outside the run take.

    If others took most of it, the lock, its store and its waiters were late for that reason, and a bound of time is not broken.
    The run's own use does not count: a lock that keeps the processors busy makes itself late. The use by programs of a lower
    priority does not count either: they give way to the run.
    """

    def __init__(self, supervisor: int) -> None:
        """Start to measure. supervisor: the pid of the process below which all servers and the load run."""
        self._supervisor = supervisor
        self._before = self._now()

    def used(self) -> tuple[float | None, int | None]:
        """Return the run's processor time since the start in seconds, and the percentage that others used; None if unknown."""
        if not psutil.pid_exists(self._supervisor):
            return None, None
        spent_s, busy_s, own_s = (after - before for after, before in zip(self._now(), self._before, strict=True))
        others_percent = min(100, max(0, round(100 * (busy_s - own_s) / spent_s))) if spent_s > TICKS_S else None
        # after a kill of the supervisor, nobody knows how long its processes ran: then the difference can be below 0
        return (None, None) if own_s < 0 else (own_s, others_percent)

    def _now(self) -> tuple[float, float, float]:
        """Return the seconds of all processors so far, the seconds in which one was busy, and the seconds that the run used."""
        times = psutil.cpu_times()
        nice_s = getattr(times, "nice", 0)  # the time of programs that give way to this run, unless it has a low priority itself
        busy_s = times.user + times.system + sum(getattr(times, name, 0) for name in ("irq", "softirq", "steal"))
        busy_s += nice_s if os.nice(0) > 0 else 0
        supervisor = psutil.Process(self._supervisor)
        run = {os.getpid(): psutil.Process(), supervisor.pid: supervisor}
        run |= {process.pid: process for process in supervisor.children(recursive=True)}
        spent_s = sum(getattr(times, name, 0) for name in SPENT)
        return spent_s, busy_s, sum(map(used_s, run.values()))


def used_s(process: psutil.Process) -> float:
    """Return the processor time in seconds of a process and of its ended children; 0 if the process is gone."""
    with contextlib.suppress(psutil.NoSuchProcess):  # if the process has ended, its parent has its time
        return float(sum(process.cpu_times()[:4]))  # user and system, its own and of its ended children
    return 0
