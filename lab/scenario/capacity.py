"""What this machine can start at most: replicas, users and requests. Nothing is started to find out.

The limits are generous: they refuse a slip of the keyboard, before minutes are lost with it. A run of the usual size is never
refused, however small the machine is. The sizes are those of docs/scale.md. Standard library only, so that ``lab --help`` is
quick.
"""

from __future__ import annotations

import os
import resource
import shutil
from functools import cache
from pathlib import Path
from typing import NamedTuple

MIB, KIB = 1 << 20, 1 << 10
REPLICA = 77 * MIB  # gunicorn's two processes
REPLICAS_A_CORE = 50  # that come up while the lab waits for them, each with 0.4 s of a processor
USER = 27 * KIB  # a greenlet and a connection of Locust
REQUEST_ON_DISK = 1 * KIB  # its lines in the journal, in the list of requests and among the losses
REQUEST_IN_MEMORY = 256  # of the judge
CONNECTIONS = 8192  # of nginx; a request uses two, one on each side
# no limit is below these numbers
LEAST_REPLICAS, LEAST_USERS, LEAST_REQUESTS = 16, 500, 100_000
SPARE = 64  # connections and files of other use
LIMITS_OF_CONTAINERS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
ENGINE = "LAB_ENGINE"


class Capacity(NamedTuple):
    """The largest number of something that this machine can start."""

    most: int
    # what sets the limit, as a sentence without its end
    why: str


def replicas() -> Capacity | None:
    """Return how many replicas this machine can start; None where they are elsewhere."""
    if _elsewhere():
        return None
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _smallest(
        LEAST_REPLICAS,
        _by_memory(REPLICA, f"a replica takes some {REPLICA // MIB} MiB"),
        Capacity(
            cores * REPLICAS_A_CORE,
            f"this machine has {_counted(cores, 'core')}, and a core brings up some {REPLICAS_A_CORE} replicas in the time "
            "that the lab waits for them",
        ),
    )


def users() -> Capacity | None:
    """Return how many users this machine can run; None where they are elsewhere."""
    if _elsewhere():
        return None
    files = _open_files()
    return _smallest(
        LEAST_USERS,
        _by_memory(USER, f"a user takes some {USER // KIB} KiB"),
        Capacity(files - SPARE, f"a process may open {files:,} files here (ulimit -Hn), and each user is a connection"),
        Capacity((CONNECTIONS - SPARE) // 2, f"nginx has {CONNECTIONS:,} connections in a run, and a request takes two"),
    )


def requests() -> Capacity:
    """Return how many requests a run can record and judge on this machine."""
    size = shutil.disk_usage(Path.cwd()).total  # what is free now may be more tomorrow; a full disk has an error of its own
    return _smallest(
        LEAST_REQUESTS,
        _by_memory(REQUEST_IN_MEMORY, f"the judge takes some {REQUEST_IN_MEMORY} bytes for a request"),
        Capacity(
            size // REQUEST_ON_DISK,
            f"the disk of the folder reports has {size / (1 << 30):,.1f} GiB, and a request leaves some "
            f"{REQUEST_ON_DISK // KIB} KiB",
        ),
    )


def _smallest(least: int, *limits: Capacity) -> Capacity:
    smallest = min(limits)
    return smallest._replace(most=max(smallest.most, least))


def _by_memory(each: int, takes: str) -> Capacity:
    memory = _memory()
    return Capacity(memory // each, f"this machine has {memory / (1 << 30):,.1f} GiB of memory, and {takes}")


@cache
def _memory() -> int:
    """Return the memory of this machine, or of this container."""
    found = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in LIMITS_OF_CONTAINERS:
        text = path.read_text(encoding="ascii").strip() if path.exists() else ""
        found += [int(text)] if text.isdigit() else []
    return min(found)


def _open_files() -> int:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return hard if hard != resource.RLIM_INFINITY else 1 << 30


def _elsewhere() -> bool:
    """Return whether replicas and load are in containers, on this machine or on others, and this process is in one as well."""
    return os.environ.get(ENGINE, "local") not in ("", "local")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
