"""Use the pages of ``lab ui`` without a browser: post their forms and fetch their figures as the pages do."""

import json
import signal
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

import psutil

from tests.command import LAB, wait_for

FORM = {"stage": "none", "scenario": "rush", "requests": "200", "user_count": "20", "spawn_rate": "20"}
EMPTY = {"work_ms": "", "ttl_ms": "", "rate": "", "host": "", "run_time": "", "profile": ""}


class Page:
    """Locust's page at an address."""

    def __init__(self, address: str) -> None:
        self.address = address

    def get(self, path: str) -> dict[str, Any]:
        with urllib.request.urlopen(f"{self.address}{path}", timeout=10) as answer:
            return json.load(answer)

    def post(self, path: str, form: dict[str, str]) -> dict[str, Any]:
        data = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"{self.address}{path}", data=data, timeout=60) as answer:
            return json.load(answer)

    def press(self, **fields: str) -> dict[str, Any]:
        """Press Start. Return the answer."""
        return self.post("/swarm", FORM | EMPTY | fields)

    def stop(self) -> None:
        self.post("/stop", {})

    def options(self) -> dict[str, Any]:
        """Return the fields of the form."""
        return self.template()["extra_options"]

    def template(self) -> dict[str, Any]:
        """Return the values with which the page starts, read from its text."""
        with urllib.request.urlopen(f"{self.address}/", timeout=10) as answer:
            text = answer.read().decode()
        arguments = text[text.index("window.templateArgs = ") + len("window.templateArgs = ") :]
        return json.JSONDecoder().raw_decode(arguments)[0]

    def stats(self) -> dict[str, Any]:
        return self.get("/stats/requests")

    def at_rest(self) -> bool:
        return self.stats()["state"] in ("ready", "stopped")


class Ui(Page):
    """A ``lab ui`` in a folder of the test's own, or another command that serves its pages."""

    def __init__(self, cwd: Path, *options: str, command: str = "ui") -> None:
        self.cwd = cwd
        about: dict[str, Any] = {"cwd": cwd, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen(
            [LAB, command, "--port", "0", "--locust-port", "0", *options], start_new_session=True, **about
        )
        self.welcome = [self.process.stdout.readline() for _ in range(2)]  # the addresses at which runs are started and watched
        if not all(self.welcome):
            raise AssertionError(f"lab ui did not start: {self.process.communicate(timeout=30)[1]}")
        self.opens = next(line.split()[0] for line in self.welcome if "Locust's page" in line)
        self.live = next(line.split()[0] for line in self.welcome if "Locust's page" not in line)
        super().__init__(self.opens.partition("/?")[0].rstrip("/"))
        wait_for(self.is_up)
        self.earlier_verdicts, self.earlier_folders = 0, 0

    def is_up(self) -> bool:
        """Return whether Locust answers: the page of the lab answers before it."""
        try:
            return self.get("/lab")["ready"]
        except urllib.error.HTTPError as refused:
            return refused.code == 403  # it asks for the teacher's key
        except OSError:
            return False

    def begin(self) -> None:
        """Wait for the runs of earlier tests to end, and leave them out of the verdicts and the folders from now on."""
        wait_for(lambda: self.at_rest() and not self.recording())
        self.earlier_verdicts, self.earlier_folders = 0, 0
        self.earlier_verdicts, self.earlier_folders = len(self.verdicts()), len(self.folders())

    def verdicts(self) -> list[dict[str, Any]]:
        return self.get("/lab")["verdicts"][self.earlier_verdicts :]

    def run(self, **fields: str) -> dict[str, Any]:
        """Press Start and wait for the verdict that the page gets."""
        before = len(self.verdicts())
        assert self.press(**fields)["success"] is True
        return wait_for(lambda: self.verdicts()[before:])[0]

    def recording(self) -> list[Path]:
        """Return the folders of the run under way."""
        return list(self.cwd.glob("reports/runs/.*.part"))

    def recorded(self) -> int:
        """Return how many requests of the run under way are recorded."""
        return sum(path.read_bytes().count(b"\n") for path in self.cwd.glob("reports/runs/.*.part/requests.jsonl"))

    def folders(self) -> list[Path]:
        return sorted(self.cwd.glob("reports/runs/2*"))[self.earlier_folders :]

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def end(self) -> tuple[int, str, str]:
        """Press Ctrl-C. Return the exit status, the output and the errors."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=120)
        return self.process.returncode, out, err
