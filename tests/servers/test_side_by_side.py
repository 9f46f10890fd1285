"""Labs that start, run and end side by side: no request of one lab reaches a server of another, and none leaves a process.

There are so few ports that the next lab gets the ports of a lab that was killed the moment before.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from lab.servers.ports import PortBlock
from tests.command import gone, left, wait_for

AT_ONCE = 3
BLOCKS = 2 * AT_ONCE  # a lab that was killed holds its block until all its processes have ended
LATEST_S = 6.0
REQUESTS = 120  # with fewer, a run now and then has too few hand-overs between replicas to show anything
LAB = f"""
import sys
from lab.servers import ports
first = int(sys.argv.pop(1))
ports.IN_A_BLOCK, ports.FOR_PAGES = 10, 2 # a run needs six
ports.PORTS = range(first, first + {BLOCKS} * ports.IN_A_BLOCK)
from lab.cli import main
main()
"""
COMMAND = ("run", "rush", "--stage", "lua", "--requests", str(REQUESTS), "--users", "8", "--no-draw", "--json")
# the words in servers' logs about a client that speaks to the wrong server, and about a port that is taken
FOREIGN = ("SECURITY ATTACK", "invalid method", "invalid request", "Invalid request", "Invalid HTTP", "in use")


INTERRUPTED, BOTH = ("lab",), ("lab", "supervisor")
ENDS = [(), ("lab",), ("supervisor",), INTERRUPTED, (), BOTH, BOTH[::-1], (), INTERRUPTED]


def made(folder: Path, first: int, seed: int) -> str:
    """Start a lab, and interrupt or kill it, its supervisor or both, at a random moment; or let it end. Return how it ended."""
    chance = random.Random(seed)
    ended = ENDS[seed % len(ENDS)]
    number = chance.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]) if ended is INTERRUPTED else signal.SIGKILL
    folder.mkdir()
    with (folder / "out").open("wb") as out, (folder / "err").open("wb") as err:
        process = psutil.Popen([sys.executable, "-c", LAB, str(first), *COMMAND], cwd=folder, stdout=out, stderr=err)
    wait_for(lambda: process.children() or process.poll() is not None)  # before it has a child, Python's own start is interrupted
    with contextlib.suppress(psutil.TimeoutExpired, subprocess.TimeoutExpired):
        return f"ended with {process.wait(chance.uniform(0.2, LATEST_S) if ended else 120)}"
    family = process.children(recursive=True)
    for one in ended:
        for victim in [process] if one == "lab" else family:
            with contextlib.suppress(psutil.NoSuchProcess):  # a process that has just ended
                if one == "lab" or "supervisor_process.py" in " ".join(victim.cmdline()):
                    victim.send_signal(number)
    status = process.wait(120)
    assert gone(family)
    wait_for(lambda: not left(folder))
    return f"ended with {status}" if number != signal.SIGKILL else f"killed: {' and '.join(ended)}"


def strange(folder: Path) -> list[str]:
    """Return the signs that a request of another lab reached a server of this lab, or that this lab did not end well."""
    found = ["a traceback"] if "Traceback" in (folder / "err").read_text(encoding="utf-8") else []
    found += [f"{one} has no verdict" for one in folder.glob("reports/runs/2*") if not (one / "verdict.json").exists()]
    runs = [one for one in folder.glob("reports/runs/*") if not one.is_symlink()]
    for log in [log for run in runs for log in run.glob("logs/**/*")]:
        if log.is_file():
            text = log.read_text(encoding="utf-8", errors="replace")
            found += [f"{log}: {line}" for line in text.splitlines() if any(word in line for word in FOREIGN)]
    for events in [events for run in runs for events in run.glob("server.jsonl")]:
        run = events.parent.name.lstrip(".").removesuffix(".part")
        keys = {json.loads(line)["key"] for line in events.read_text(encoding="utf-8").splitlines() if line.endswith("}")}
        found += [f"{events}: {key}" for key in keys if not key.startswith(f"lab:{run}:")]
    with contextlib.suppress(ValueError):
        verdict = json.loads((folder / "out").read_text(encoding="utf-8"))
        if (folder / "reports" / "runs" / "latest" / "run.json").exists() and not any(verdict["why"]):
            counted = verdict["final"], verdict["acknowledged"], verdict["lost"]
            found += [f"{folder}: {counted}"] if counted != (REQUESTS, REQUESTS, 0) else []
    return found


@pytest.mark.parametrize("number", [6, pytest.param(100, marks=pytest.mark.trial)])
def test_no_request_reaches_another_lab(tmp_path, number):
    """Of labs that are started and ended side by side, no request reaches a server of another, and no port stays taken."""
    block = PortBlock()  # all labs have blocks within this one, so that they meet no other lab of this machine
    with ThreadPoolExecutor(AT_ONCE) as several:
        ends = list(several.map(lambda seed: made(tmp_path / f"{seed:03}", block.first + 1, seed), range(number)))
    os.close(block.held)

    print(*(f"{seed}: {end}" for seed, end in enumerate(ends)), sep="\n")
    assert {end for end in ends if end.startswith("ended")} <= {"ended with 0", "ended with 3", "ended with 130"}
    assert sum(end.startswith("ended with 0") for end in ends) >= number / 6
    assert [line for seed in range(number) for line in strange(tmp_path / f"{seed:03}")] == []
