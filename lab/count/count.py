"""``lab count``: read a number, send a load to the program that counts it, and read it again."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from lab.count import picture
from lab.count.number import allowed, reader
from lab.count.sums import Ended, Round, status
from lab.errors import BadInput, ExitStatus, NotReady
from lab.evidence.run_folder import replace
from lab.interrupts import unless_interrupted
from lab.language import of_environment
from lab.paths import new_place, shown
from lab.report.terminal import terminal
from lab.servers.process import last_words
from lab.servers.supervisor import Supervisor, supervised
from lab.story.say import text
from lab.text import counted

CLIENT = Path(__file__).with_name("client.py")
SAMPLE_EVERY_S = 0.25
PATIENCE_S = 30.0  # Locust hangs if no request ends for this long plus one request's timeout
SETTLES_S = 10.0  # for at most so long may requests without an answer still change the number
Read = Callable[[], int]


class Count(NamedTuple):
    """What ``lab count`` was asked for; its options say what each means."""

    post: str | None
    locustfile: Path | None
    read: str
    requests: int
    run_time: str | None
    ramp: Sequence[int]
    repeat: int
    down: bool
    stock: int | None
    acknowledged: str
    name: str
    header: Sequence[tuple[str, str]]
    data: str
    timeout_s: float
    allow_host: Sequence[str]
    junit: Path | None
    out: Path | None


def count(asked: Count) -> int:
    """Count in each round, write the picture and the figures, and return the exit status. Raises BadInput, NotReady."""
    given, read = _given(asked), reader(asked.read, asked.allow_host)
    console, language = terminal(), of_environment(os.environ)
    folder = asked.out or new_place("count")
    rounds: list[Round] = []
    with supervised() as supervisor:
        for users in (users for users in asked.ramp for _ in range(asked.repeat)):
            place = (folder / f"round-{len(rounds) + 1}").resolve()
            rounds.append(_round(asked, given, users, read, place, supervisor))
            figures = text("count", "figures", language, users, **rounds[-1].figures())
            console.print(f"{figures}\n{picture.sentence(rounds[-1], language)}", soft_wrap=True, highlight=False)
    picture.draw(max(rounds, key=lambda one: one.figures()["harm"]), folder / "count.svg", language)
    found = [{"users": one.users, **one.figures(), "result": one.result()} for one in rounds]
    replace(folder / "count.json", json.dumps(found, indent=1).encode())
    if asked.junit:
        asked.junit.write_text(picture.junit(rounds, asked.post or str(asked.locustfile)), encoding="utf-8")
    console.print(f"\nLook at {shown(folder / 'count.svg')}", soft_wrap=True)
    return status([one.result() for one in rounds])


def _given(asked: Count) -> dict[str, Any]:
    """Return what Locust's process is told. Raises BadInput if options do not go together."""
    if (asked.post is None) == (asked.locustfile is None):
        raise BadInput("give either --post URL or --locustfile FILE")
    if bool(asked.locustfile) != bool(asked.run_time):
        raise BadInput("give --run-time, such as 30s, with a locustfile, and only then")
    if asked.stock is not None and len(asked.ramp) * asked.repeat > 1:
        raise BadInput("nothing is left to sell after the first round: count once, and fill the stock again")
    if asked.post:
        allowed(asked.post, "--post", asked.allow_host)
    how = {"data": asked.data, "headers": dict(asked.header), "timeout": asked.timeout_s}
    given = {"post": asked.post, "requests": asked.requests if asked.post else 0, "how": how, "hosts": asked.allow_host}
    return given | {"acknowledged": asked.acknowledged, "name": asked.name}


def _round(asked: Count, given: dict[str, Any], users: int, read: Read, folder: Path, supervisor: Supervisor) -> Round:
    """Send the load once. Raises NotReady, BadInput."""
    folder.mkdir(parents=True)
    record, log = folder / "requests.jsonl", folder / "locust.log"
    record.touch()
    samples = [(time.time(), read())]
    environment = {**os.environ, "LAB_COUNT": json.dumps(given | {"record": str(record)})}
    pid = supervisor.start(_argv(asked, users, folder), environment, Path.cwd(), log)
    moved_s, size = time.monotonic(), 0
    while (ended := supervisor.exit_of(pid)) is None:
        unless_interrupted()
        samples.append((time.time(), read()))
        if (now := record.stat().st_size) != size:
            moved_s, size = time.monotonic(), now
        if time.monotonic() - moved_s > asked.timeout_s + PATIENCE_S:
            raise NotReady(f"no request has ended for {time.monotonic() - moved_s:.0f} s:\n{last_words(log)}")
        time.sleep(SAMPLE_EVERY_S)
    found = [msgspec.json.decode(line, type=Ended) for line in record.read_bytes().splitlines()]
    if ended or not found:
        kind = BadInput if ended == ExitStatus.BAD_INPUT else NotReady  # as Locust ends if it does not understand its options
        raise kind(f"Locust ended with {ended} after {counted(len(found), 'request')}:\n{last_words(log)}")
    samples.append((time.time(), _settled(read)))
    before, after = samples[0][1], samples[-1][1]
    return Round(
        users=users, before=before, after=after, step=-1 if asked.down else 1, stock=asked.stock, requests=found, samples=samples
    )


def _argv(asked: Count, users: int, folder: Path) -> list[str]:
    files = [str(one.resolve()) for one in (asked.locustfile, CLIENT) if one]
    options = {"locustfile": ",".join(files), "users": users, "spawn-rate": users, "loglevel": "WARNING"}
    options |= {"exit-code-on-error": 0, "html": folder / "locust.html"}
    options |= {"stop-timeout": math.ceil(asked.timeout_s) + 1}  # requests that are under way at the end get their answers
    options |= {"run-time": asked.run_time} if asked.run_time else {}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "locust", "--headless", "--only-summary", *words]


def _settled(read: Read) -> int:
    """Return the number when it has stood still for a second: requests without an answer may still change it."""
    last, now, until_s = None, read(), time.monotonic() + SETTLES_S
    while now != last and time.monotonic() < until_s:
        unless_interrupted()
        time.sleep(1)
        last, now = now, read()
    return now
