"""``lab ui``: Locust's own page, where each press of Start is a whole run of the lab, and the live page beside it.

Three processes at work: this one starts servers, judges and draws, run after run, exactly as ``lab run`` does, and serves
the live page; Locust serves its page and sends the requests, itself or by workers; the supervisor ends all of them.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import socket
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.containers.backend import LOCAL, engine
from lab.errors import BadInput, ExitStatus, MissingProgram, NotReady
from lab.pipeline import Conducted, conduct, finish
from lab.prerequisites import missing, program
from lab.servers.process import free_port
from lab.servers.supervised import supervised
from lab.servers.supervisor import Supervisor
from lab.ui.control_socket import ControlSocket, failure
from lab.ui.live_server import LiveServer
from lab.ui.live_state import LiveState
from lab.ui.locust_process import LocustProcess, PageSettings
from lab.ui.locust_run import LocustRun, drive_by_page
from lab.ui.run_form import RunRequest, offered, read
from lab.ui.same_origin import LOOPBACK


def serve(
    port: int,
    host: str = "127.0.0.1",
    live_port: int = 0,
    processes: int = 1,
    offer: Callable[[], dict[str, Any]] = offered,
) -> int:
    """Keep the pages up until Ctrl-C; port 0 for any free one. processes: that send. offer: what the form's drop-downs say.
    Returns the exit status: 130 if Ctrl-C cut a run short.

    Raises BadInput when a port cannot be had or the offer is none, MissingProgram, and NotReady when Locust ends.
    """
    offer()
    for name in missing() if engine() == LOCAL else ():
        program(name)  # says how to install it
    _check_port(host, port)
    password = "" if host in LOOPBACK else secrets.token_urlsafe(9)
    left: list[Conducted] = []
    with (
        contextlib.suppress(KeyboardInterrupt),
        tempfile.TemporaryDirectory(prefix="lock-lab-") as folder,
        ControlSocket(Path(folder) / "control", lambda form: read(form, processes), offer) as control,
        supervised() as supervisor,
        _showing(host, live_port, port := port or free_port(), password) as live,
    ):
        place = PageSettings(host, port, live.server_port, password, processes)
        page = LocustProcess(supervisor, place, control.path, Path(folder) / "log")
        page.wait()
        _welcome(place)
        _run_presses(supervisor, control, page, live.state, left)
    for done in left:
        if done.folder.path.name != done.folder.name:  # not yet published
            _say(_line(done, finish(done)))
    sys.stderr.write("\nstopped; nothing is left running\n")
    return ExitStatus.INTERRUPTED if left else ExitStatus.GOOD


@contextlib.contextmanager
def _showing(host: str, port: int, locust_port: int, password: str) -> Iterator[LiveServer]:
    state = LiveState()
    try:
        server = LiveServer(state, host, port, locust_port, password)
    except OSError as error:
        state.close()
        raise _port_taken(host, port, "--live-port", error) from None
    try:
        yield server
    finally:
        state.close()
        server.close()


def _welcome(place: PageSettings) -> None:
    _say(f"{place.address}  the lab in Locust's page, until Ctrl-C; it links to the live page, {place.live_address}")
    if place.password:
        _say(
            f"warning: these pages are served to whoever reaches {place.host}, unencrypted; pressing Start starts servers here\n"
            f"password: {place.password}  (Locust's login takes any name with it, and so does the live page)"
        )


def _run_presses(
    supervisor: Supervisor, control: ControlSocket, page: LocustProcess, state: LiveState, left: list[Conducted]
) -> None:
    """One run after the other, until an interrupt. ``left`` gets a run that was conducted but not yet published then."""
    while True:
        page.check()
        try:
            press = control.runs.get(timeout=0.2)
        except queue.Empty:
            continue
        try:
            order = read(press.form, page.place.processes)
            _say(order.introduction)
            if not _run(supervisor, page, state, press, order, left):
                return
        except (BadInput, MissingProgram, NotReady) as reason:
            _say(f"not run: {reason}")
            state.refused(str(reason))
            press.say(refused=str(reason))
        except Exception as error:  # noqa: BLE001 - a stage or check in the making must not take the page down
            traceback.print_exc()
            state.refused(failure(error))
            press.say(refused=failure(error))
        left.clear()


def _shown(tell: Callable[..., None], *about: object) -> None:
    """LiveState it, if it can be shown: a run must not be lost over its picture."""
    try:
        tell(*about)
    except Exception:  # noqa: BLE001 - whatever it is, the run goes on
        traceback.print_exc()


def _run(
    supervisor: Supervisor, page: LocustProcess, state: LiveState, press: LocustRun, order: RunRequest, left: list[Conducted]
) -> bool:
    """One run, shown, judged and drawn. False when an interrupt ended it."""
    drive = drive_by_page(press, order.scenario, page.kill, lambda folder: _shown(state.begin, order, folder))
    left.append(conduct(supervisor, order.stage, order.scenario, drive, order.command))
    if left[0].record.ended == "interrupted":
        return False
    _shown(state.judged, left[0])
    report = finish(left[0])
    _shown(state.drawn, left[0])
    _say(_line(left[0], report))
    press.say(verdict=_facts(left[0], report))
    return True


def _check_port(host: str, port: int) -> None:
    """Raises BadInput when it cannot be listened on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise _port_taken(host, port, "--port", error) from None


def _port_taken(host: str, port: int, option: str, error: OSError) -> BadInput:
    why = (error.strerror or str(error)).lower()
    return BadInput(f"port {port} of {host} cannot be had: {why}; give another with {option} (0: any free one)")


def _facts(done: Conducted, report: Path) -> dict[str, Any]:
    """The verdict, for the page."""
    judgement = done.judgement
    names = ("run", "stage", "scenario", "verdict", "requests", "acknowledged", "lost", "duplicated", "failed", "unknown")
    facts = {name: getattr(judgement, name) for name in names}
    return facts | {"counter": judgement.final, "why": judgement.why, "report": os.path.relpath(report)}


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
