"""``lab ui``: Locust's own page, where each press of Start is a whole run of the lab.

Three processes at work: this one starts servers, judges and draws, run after run, exactly as ``lab run`` does; Locust
serves the page and sends the requests; the keeper ends both. What Locust asks, and what it is told, is in ``lab.remote``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import os
import queue
import shlex
import signal
import socket
import socketserver
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.lock import Stage
from app.locks import stages
from lab import scenario as scenarios
from lab import service
from lab.choice import BadInput, chosen
from lab.cluster import Cluster
from lab.conductor import Conducted, CutShort, Drive, conduct
from lab.doctor import missing
from lab.keeper import Keeper
from lab.load import LOCUSTFILES, PATIENCE_S, LoadFailed
from lab.scenario import Scenario
from lab.service import MissingProgram, NotReady, free_port, last_words, search_path
from lab.session import INTERRUPTED, finish, keeping

CONTROL = "LOCK_LAB_CONTROL"  # also named in lab/remote.py
LOCUSTFILE = LOCUSTFILES / "rush.py"
UP_WITHIN_S = 30.0
STOPPED_WITHIN_S = 5.0
QUIET_WITHIN_S = 5.0


def serve(port: int) -> int:
    """Keep the page up until Ctrl-C; port 0 for any free one. Returns the exit status: 130 if that cut a run short.

    Raises BadInput when the port cannot be had, MissingProgram, and NotReady when Locust ends.
    """
    for program in missing():
        service.program(program)  # says how to install it
    _check_port(port)
    left: list[Conducted] = []
    with (
        contextlib.suppress(KeyboardInterrupt),
        tempfile.TemporaryDirectory(prefix="lock-lab-") as folder,
        Control(Path(folder) / "control") as control,
        keeping() as keeper,
    ):
        page = Page(keeper, port or free_port(), control.path, Path(folder) / "log")
        page.wait()
        _say(f"{page.address}  the lab in Locust's page, until Ctrl-C; stage and scenario are under “Custom parameters”")
        _run_presses(keeper, control, page, left)
    for done in left:
        if done.folder.path.name != done.folder.name:  # not yet published
            _say(_line(done, finish(done)[0]))
    sys.stderr.write("\nstopped; nothing is left running\n")
    return INTERRUPTED if left else 0


def _run_presses(keeper: Keeper, control: Control, page: Page, left: list[Conducted]) -> None:
    """One run after the other, until an interrupt. ``left`` gets a run that was conducted but not yet published then."""
    while True:
        page.check()
        try:
            press = control.presses.get(timeout=0.2)
        except queue.Empty:
            continue
        try:
            order = read(press.form)
            _say(order.introduction)
            left.append(conduct(keeper, order.stage, order.scenario, by_page(page, press, order.scenario), order.command))
            if left[0].record.ended == "interrupted":
                return
            report = finish(left[0])[0]
            _say(_line(left[0], report))
            press.say(verdict=_facts(left[0], report))
        except (BadInput, MissingProgram, NotReady) as reason:
            _say(f"not run: {reason}")
            press.say(refused=str(reason))
        except Exception as error:  # noqa: BLE001 - a stage or check in the making must not take the page down
            traceback.print_exc()
            press.say(refused=_failure(error))
        left.clear()


def _failure(error: Exception) -> str:
    return f"the lab itself failed: {type(error).__name__}: {error}"


@dataclass(frozen=True)
class Order:
    """What a form asks for, checked; and the command that would run the same again."""

    stage: Stage
    scenario: Scenario
    command: str

    @property
    def introduction(self) -> str:
        """One line for the terminal."""
        scenario = self.scenario
        who = f"at {scenario.rate:g} a second" if scenario.rate else f"by {scenario.users} users"
        notes = "".join(f" ({note})" for note in scenario.notes)
        return f"{self.stage.name} under {scenario.name}: {scenario.requests} requests {who} …{notes}"


def read(form: Mapping[str, str]) -> Order:
    """Check a form as the page posts it: texts by field; of the numbers, empty or 0 is the scenario's own.

    The number of users is the form's, always. Raises BadInput, with the names that would do.
    """
    shelf = stages()  # files are for the command line: what a web page may post must not choose code to run
    stage = shelf[chosen("stage", form.get("stage", ""), shelf)]
    scenario = scenarios.load(chosen("scenario", form.get("scenario", ""), scenario_names()))
    kinds: dict[str, Callable[[str], float]] = {"requests": int, "work_ms": int, "ttl_ms": int, "rate": float}
    given = {name: _number(name, kind, form.get(name, "")) or None for name, kind in kinds.items()}
    notes = []
    if given["rate"] or scenario.rate:
        notes.append("at a rate, requests arrive whatever the answers do: the page's users do not count")
    else:
        given["users"] = users = _number("users", int, form.get("user_count", ""))
        if users > (rate := _number("ramp up", float, form.get("spawn_rate", ""))):
            notes.append(f"the users were started at {rate:g} a second, not all at once")
    fitted = scenarios.override(scenario, stage, given | {"processes": 1})
    words = [word for name, value in given.items() if value is not None for word in (f"--{name.replace('_', '-')}", str(value))]
    command = shlex.join(["lab", "run", scenario.name, "--stage", stage.name, *words])
    scenario = dataclasses.replace(fitted, notes=(*fitted.notes, *notes))
    return Order(stage, scenario, f"{command}  # asked for in the page of lab ui")


def scenario_names() -> list[str]:
    """The scenarios that the page's locustfile can drive."""
    return [name for name in scenarios.names() if scenarios.load(name).load == LOCUSTFILE.stem]


def _number(name: str, kind: Callable[[str], float], text: str) -> float:
    try:
        return kind(text.strip() or "0")
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise BadInput(f"{name} must be {what}, not {text!r}") from None


@dataclass
class Press:
    """One press of Start: the form, and the line on which Locust is told about its run.

    ended: nothing more is sent, because Locust said so (``complete``: all was) or because it is gone (``lost``).
    """

    form: Mapping[str, str]
    line: Any
    ended: threading.Event = field(default_factory=threading.Event)
    complete: bool = False
    lost: bool = False

    def say(self, **message: Any) -> None:
        """Tell Locust, if it is still there."""
        with contextlib.suppress(OSError, ValueError):
            self.line.write(json.dumps(message).encode() + b"\n")


class Control(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """Where Locust asks: a Unix socket in a folder that only this user can enter. Runs are put into ``presses``."""

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        super().__init__(str(path), Listener)
        self.path = path
        self.presses: queue.Queue[Press] = queue.Queue()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def __exit__(self, *exc: object) -> None:
        self.shutdown()
        self.server_close()


class Listener(socketserver.StreamRequestHandler):
    """One connection of Locust's."""

    server: Control

    def handle(self) -> None:
        question = json.loads(self.rfile.readline() or b"{}")
        press = Press(question.get("form", {}), self.wfile)
        match question.get("ask"):
            case "shelf":
                press.say(stages=list(stages()), scenarios=scenario_names())
            case "check":
                press.say(**_check(press.form))
            case "run":
                self._converse(press)

    def _converse(self, press: Press) -> None:
        self.server.presses.put(press)
        for line in self.rfile:  # the only thing Locust has to say is that it has ended
            press.complete = json.loads(line)["ended"]
            press.ended.set()
        press.lost = not press.ended.is_set()
        press.ended.set()


def _check(form: Mapping[str, str]) -> dict[str, Any]:
    try:
        read(form)
    except BadInput as reason:
        return {"refused": str(reason)}
    except Exception as error:  # noqa: BLE001 - such as a stage's file that cannot be imported just now
        return {"refused": _failure(error)}
    return {}


class Page:
    """Locust with its web page, started and watched."""

    def __init__(self, keeper: Keeper, port: int, control: Path, log: Path) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self._port = port
        self._keeper = keeper
        self._control = control
        self._log = log
        options = {"locustfile": LOCUSTFILE, "web-host": "127.0.0.1", "web-port": port}
        options |= {"users": 100, "spawn-rate": 100, "requests": 0}  # what the form shows at first
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        env = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ}
        env |= {"PATH": search_path(), "LC_ALL": "C.UTF-8", "PYTHONPATH": str(LOCUSTFILES.parent), CONTROL: str(control)}
        self._pid = keeper.start([sys.executable, "-m", "locust", *words], env, LOCUSTFILES.parent, log)

    def wait(self) -> None:
        """Until it answers: this page, not whatever else may have got the port. Raises NotReady."""
        until = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < until:
            self.check()
            with contextlib.suppress(OSError, ValueError, http.client.HTTPException):
                if self._answers_to() == str(self._control):
                    return
            time.sleep(0.02)
        raise NotReady(f"Locust's page did not come up at {self.address}; the end of its log:\n{last_words(self._log)}")

    def _answers_to(self) -> Any:
        """Which lab's page is at the address."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self._port, timeout=1)) as connection:
            connection.request("GET", "/lab")
            return json.load(connection.getresponse()).get("control")

    def check(self) -> None:
        """Raises NotReady when Locust has ended."""
        if (status := self._keeper.exit_of(self._pid)) is not None:
            raise NotReady(f"Locust ended with {status}; the end of its log:\n{last_words(self._log)}")

    def kill(self) -> None:
        """End it at once."""
        self._keeper.signal(self._pid, signal.SIGKILL)


def by_page(page: Page, press: Press, scenario: Scenario) -> Drive:
    """The drive of a run that was asked for in the page: Locust is told where the servers are, and says when it has ended."""

    def drive(system: Cluster, folder: Path, well: Callable[[], bool]) -> None:
        record = folder / "requests.jsonl"
        record.touch()
        where = {"host": f"http://{system.address}", "record": str(record)}
        what = {"requests": scenario.requests, "rate": scenario.rate or 0.0, "seed": scenario.seed}
        press.say(plan=where | what | {"timeout_s": scenario.request_timeout_s})
        try:
            trouble = _watch(press, record, scenario, well)
            if trouble:
                press.say(stop=trouble)
                if not press.ended.wait(STOPPED_WITHIN_S):
                    page.kill()
        except KeyboardInterrupt:
            page.kill()  # or it would go on recording
            raise
        if press.lost:
            raise LoadFailed("Locust is gone")
        if not well():
            return
        if trouble:
            raise LoadFailed(trouble)
        if not press.complete:
            system.quiet(QUIET_WITHIN_S)  # or the counter would be read before what was on its way has been written
            raise CutShort("stopped by hand")

    return drive


def _watch(press: Press, record: Path, scenario: Scenario, well: Callable[[], bool]) -> str:
    """Wait until Locust says that it has ended; or the reason why it has to be told to."""
    size, moved_s = 0, time.monotonic()
    while not press.ended.wait(0.02):
        if not well():
            return "a server has ended in the middle of the run"
        if (now := record.stat().st_size) > size:
            size, moved_s = now, time.monotonic()
        if time.monotonic() - moved_s > scenario.request_timeout_s + PATIENCE_S:
            return f"no answer for {time.monotonic() - moved_s:.0f} s"
    return ""


def _check_port(port: int) -> None:
    """Raises BadInput when it cannot be listened on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise BadInput(
                f"port {port} of 127.0.0.1 cannot be had: {(error.strerror or str(error)).lower()}; "
                "give another with --port (0: any free one)"
            ) from None


def _facts(done: Conducted, report: Path) -> dict[str, Any]:
    """The verdict, for the page."""
    judgement = done.judgement
    names = ("run", "stage", "scenario", "verdict", "requests", "acknowledged", "lost", "duplicated", "failed", "unknown")
    facts = {name: getattr(judgement, name) for name in names}
    return facts | {"counter": judgement.final, "why": judgement.danger["why"], "report": os.path.relpath(report)}


def _line(done: Conducted, report: Path) -> str:
    facts = _facts(done, report)
    counter = "unknown" if facts["counter"] is None else facts["counter"]
    figures = ", ".join(f"{facts[name]} {name}" for name in ("lost", "duplicated", "failed", "unknown"))
    why = f" ({facts['why']})" if facts["verdict"] != "KEPT" else ""
    return (
        f"{facts['stage']} under {facts['scenario']}: {facts['acknowledged']} acknowledged, the counter says {counter}; "
        f"{figures}: {facts['verdict']}{why}  {facts['report']}"
    )


def _say(text: str) -> None:
    print(text, flush=True)
