"""Run ``lab count``: read a number, send a load to the program that counts it, and read the number again."""

from __future__ import annotations

import json
import math
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec

from lab.count import picture
from lab.count.number import reader
from lab.count.sums import Ended, Round, status
from lab.errors import BadInput, ExitStatus, NotReady
from lab.evidence.run_folder import replace
from lab.interrupts import unless_interrupted
from lab.language import of_environment
from lab.paths import new_place, shown
from lab.prerequisites import lacking
from lab.report.terminal import terminal
from lab.servers.process import last_words
from lab.servers.supervisor import Supervisor, supervised
from lab.story.say import text
from lab.text import counted

CLIENT = Path(__file__).with_name("client.py")
SAMPLE_EVERY_S = 0.25
SETTLES_S = 10.0  # after the load, the lab waits no longer until the number stays the same
Read = Callable[[], int]
Options = Mapping[str, Any]  # the options of ``command_line.py``, by name


def count(given: Options) -> int:
    """Count in each round, and write the picture and the figures. Return the exit status. Raises BadInput, NotReady."""
    _check(given)
    read = reader(given["read"])
    console, language = terminal(), of_environment(os.environ)
    folder = given["out"] or new_place("count")
    rounds: list[Round] = []
    with supervised() as supervisor:
        for users in (users for users in given["ramp"] for _ in range(given["repeat"])):
            place = (folder / f"round-{len(rounds) + 1}").resolve()
            rounds.append(_round(given, users, read, place, supervisor))
            figures = text("count", "figures", language, users, **rounds[-1].figures())
            console.print(f"{figures}\n{picture.sentence(rounds[-1], language)}", soft_wrap=True, highlight=False)
    results = [{"users": round_.users, **round_.figures(), "result": round_.result()} for round_ in rounds]
    replace(folder / "count.json", json.dumps(results, indent=1).encode())
    if given["junit"]:
        given["junit"].write_text(picture.junit(rounds, given["post"] or str(given["locustfile"])), encoding="utf-8")
    try:
        picture.draw(max(rounds, key=lambda round_: round_.figures()["harm"]), folder / "count.svg", language)
        console.print(f"\nLook at {shown(folder / 'count.svg')}", soft_wrap=True)
    except ModuleNotFoundError as error:  # the figures are printed without a picture
        console.print(f"\n{shown(folder / 'count.json')} has the figures. No picture: {lacking(error) or error}", soft_wrap=True)
    return status([round_.result() for round_ in rounds])


def _check(given: Options) -> None:
    """Raise BadInput if options do not go together, or if an address has no host."""
    if (given["post"] is None) == (given["locustfile"] is None):
        raise BadInput("give either --post URL or --locustfile FILE")
    if bool(given["locustfile"]) != bool(given["run_time"]):
        raise BadInput("give --run-time, such as 30s, with a locustfile, and only then")
    if given["post"] and not urlsplit(given["post"]).hostname:
        raise BadInput(f"--post {given['post']}: an address has a scheme and a host, as in http://127.0.0.1:8000/buy")


def _round(given: Options, users: int, read: Read, folder: Path, supervisor: Supervisor) -> Round:
    """Send the load once. Raises NotReady, BadInput."""
    folder.mkdir(parents=True)
    record, log = folder / "requests.jsonl", folder / "locust.log"
    record.touch()
    samples = [(time.time(), read())]
    environment = {**os.environ, "LAB_COUNT": json.dumps({**given, "record": record}, default=str)}
    pid = supervisor.start(_argv(given, users, folder), environment, Path.cwd(), log)
    while (ended := supervisor.exit_of(pid)) is None:
        unless_interrupted()
        samples.append((time.time(), read()))
        time.sleep(SAMPLE_EVERY_S)
    requests = [msgspec.json.decode(line, type=Ended) for line in record.read_bytes().splitlines()]
    if ended or not requests:
        error = BadInput if ended == ExitStatus.BAD_INPUT else NotReady  # Locust does not understand its options, or failed
        raise error(f"Locust ended with {ended} after {counted(len(requests), 'request')}:\n{last_words(log)}")
    samples.append((time.time(), _settled(read)))
    return Round(users=users, step=-1 if given["down"] else 1, stock=given["stock"], requests=requests, samples=samples)


def _argv(given: Options, users: int, folder: Path) -> list[str]:
    files = [str(file.resolve()) for file in (given["locustfile"], CLIENT) if file]
    options = {"locustfile": ",".join(files), "users": users, "spawn-rate": users, "loglevel": "WARNING"}
    options |= {"exit-code-on-error": 0, "html": folder / "locust.html"}
    options |= {"stop-timeout": math.ceil(given["timeout_s"]) + 1}  # requests that are under way at the end get their answers
    options |= {"run-time": given["run_time"]} if given["run_time"] else {}
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [sys.executable, "-m", "locust", "--headless", "--only-summary", *words]


def _settled(read: Read) -> int:
    """Return the number when it has not changed for a second: requests without an answer may still change it."""
    last, now, until_s = None, read(), time.monotonic() + SETTLES_S
    while now != last and time.monotonic() < until_s:
        unless_interrupted()
        time.sleep(1)
        last, now = now, read()
    return now
