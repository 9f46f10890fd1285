"""``lab ui``: Locust's own page, in which each press of Start is a whole run of the lab, and the live page.

This process starts servers, judges and draws, as ``lab run`` does, and serves the live page. Locust's process sends the requests,
itself or by workers. The supervisor ends both processes.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from lab.containers.engine import LOCAL, engine
from lab.errors import ExitStatus, LabError
from lab.interrupts import pending
from lab.judge.judgement import Verdict
from lab.pipeline import Conducted, conduct, finish
from lab.prerequisites import missing, program
from lab.report import chart, lost, run_data
from lab.report.run_data import Result
from lab.report.terminal import introduce, summarise, terminal, where_to_look
from lab.servers.supervisor import Supervisor, SupervisorGone, supervised
from lab.story.say import ENGLISH, text
from lab.story.verdict import why
from lab.ui import addresses, lesson, question
from lab.ui.addresses import PAGE_PORT, PROJECTOR
from lab.ui.both_sides import LOOPBACK
from lab.ui.joining import Invitation
from lab.ui.live_server import LiveServer
from lab.ui.live_state import FIGURES, LiveState
from lab.ui.locust_process import LocustProcess, PageSettings
from lab.ui.locust_run import LocustRun, Orders, drive_by_page, failure
from lab.ui.posted import RunRequest, name_of, offered, read


def serve(
    port: int | None = None,
    host: str = "127.0.0.1",
    locust_port: int | None = None,
    processes: int = 1,
    offer: Callable[[], dict[str, Any]] = offered,
    step: int = 0,
) -> int:
    """Serve the pages until Ctrl-C. Return the exit status: 130 if Ctrl-C cut a run short.

    port, locust_port: None for the usual port, or another if it is taken; 0 for any free port. processes: how many send the
    requests. offer: returns the choices of the form's drop-downs. step: the step of the lesson at which the page opens; 0 for no
    lesson. Raises BadInput when a port is not available or a name or the step is unknown, MissingProgram, and NotReady when
    Locust ends.
    """
    first = (name_of(offer()[field]) for field in ("stage", "scenario"))
    if step:
        lesson.step(step)
    for name in missing() if engine() == LOCAL else ():
        program(name)  # its error states how to install it
    page_port, locust_port = addresses.ports(host, port, locust_port)
    key = "" if host in LOOPBACK else secrets.token_urlsafe(18)
    orders = Orders(lambda form: read(form, processes), offer)
    cut_short: Conducted | None = None
    with (
        contextlib.suppress(KeyboardInterrupt),
        tempfile.TemporaryDirectory(prefix="lock-lab-") as folder,
        supervised() as supervisor,
        contextlib.closing(LiveState(*first)) as state,
        contextlib.closing(LiveServer(state, host, page_port, locust_port, key, orders=orders)) as live,
    ):
        if step:
            state.teach(step)
        live.ready.clear()
        place = PageSettings(host, locust_port, live.port, key, processes)
        page = LocustProcess(supervisor, place, orders.key, Path(folder) / "log")
        _welcome(place, live.invitation, step > 0)  # the page can be read while Locust starts
        page.wait()
        live.ready.set()
        if port is None and page_port != PAGE_PORT:
            _print(f"another program has port {PAGE_PORT}, so the page is at port {page_port}")
        cut_short = Runs(supervisor, orders, page, state, Path(folder)).serve()
    if cut_short is None and isinstance(gone := pending(), SupervisorGone):  # between two runs
        raise gone
    drawn = cut_short is None or any(cut_short.folder.path.glob("report*.html"))
    if cut_short is not None and not drawn:
        summarise(terminal(), cut_short.judgement, cut_short.findings)
        where_to_look(terminal(), finish(cut_short))
    sys.stderr.write("\nstopped; nothing is left running\n")
    return ExitStatus.GOOD if drawn else ExitStatus.INTERRUPTED


def _welcome(place: PageSettings, invitation: Invitation, is_lesson: bool) -> None:
    if is_lesson:
        _print(f"{place.live_address}  the lesson, until Ctrl-C")
        _print(f"{place.address}  start other runs here: Locust's page")
    else:
        _print(
            f"{place.address}  start runs here, until Ctrl-C: Locust's page, with the verdict and the lost increments of each run"
        )
        _print(f"{place.live_address}  watch the run here, also on a projector or a phone")
    if place.key:
        _print(
            "warning: anybody with these addresses can start servers here; they have the teacher's key. The traffic is not "
            f"encrypted, and any machine that reaches {place.host} can ask for the pages"
        )
    if invitation.word:
        _print(f"phones: {invitation.code}  (the page shows it as a QR code; by hand: {invitation.address}, {invitation.word})")
        _print(f"a projector of another computer: http://{invitation.address}{PROJECTOR}  (it asks for {invitation.word})")


@dataclass
class Runs:
    """Makes the runs that one page requests, one at a time."""

    supervisor: Supervisor
    orders: Orders
    page: LocustProcess
    state: LiveState
    # the folder of the picture of lost increments
    folder: Path
    made: list[Result] = field(default_factory=list)

    def serve(self) -> Conducted | None:
        """Make the runs that the page requests.

        Return the run that an interrupt cut short. An interrupt between two runs is raised.
        """
        while True:
            self.page.check()
            try:
                run = self.orders.runs.get(timeout=0.2)
            except queue.Empty:
                continue
            try:
                request = read(run.form, self.page.place.processes)
                introduce(terminal(), request.stage, request.scenario)
                if cut_short := self._make(run, request):
                    return cut_short
            except LabError as reason:
                _print(f"not run: {reason}")
                self._refuse(run, str(reason))
            except Exception as error:  # noqa: BLE001 - an error in a new stage or check must not end the page
                traceback.print_exc()
                self._refuse(run, failure(error))

    def _refuse(self, run: LocustRun, why: str) -> None:
        self.state.refused(why)
        run.refuse(why)

    def _make(self, run: LocustRun, request: RunRequest) -> Conducted | None:
        """Make one run, show it, judge it and draw it. Return it if an interrupt came before its end; otherwise None."""
        state = self.state
        drive = drive_by_page(run, request.scenario, self.page, lambda *run: _try_to_publish(state.begin, request, *run))
        _try_to_publish(state.starting, request)
        done = conduct(self.supervisor, request.stage, request.scenario, drive, request.command)
        if done.record.ended.is_interrupt:
            return done
        try:
            summarise(terminal(), done.judgement, done.findings)
            _try_to_publish(state.judged, done)
            report = finish(done)
            _try_to_publish(state.drawn, done)
            _try_to_publish(lambda: state.lost_increments(self._picture_with(done.folder.path)))
            where_to_look(terminal(), report)
            run.verdict.set_result(_facts(done, report))
        except KeyboardInterrupt:
            return done
        return None

    def _picture_with(self, run: Path) -> str:
        """Return the picture of the increments that all runs lost, with one more run, as SVG."""
        self.made.append(run_data.load(run))
        several = len({one.record.scenario["name"] for one in self.made}) > 1
        named = [replace(one, given_label=f"{one.label()} · {one.record.scenario['name']}") for one in self.made]
        shown = named if several else self.made
        return chart.write(lambda: lost.draw(shown), self.folder / chart.LOST).read_text(encoding="utf-8")


def _try_to_publish(publish: Callable[..., None], *about: object) -> None:
    """Publish news on the live page. An error is printed: a run must not be lost because it cannot be shown."""
    try:
        publish(*about)
    except Exception:  # noqa: BLE001 - any error; the run continues
        traceback.print_exc()


def _facts(done: Conducted, report: Path) -> dict[str, Any]:
    """Return the verdict and its figures, for the page."""
    judgement = done.judgement
    facts = {name: getattr(judgement, name) for name in FIGURES}
    facts |= {"kept_per_s": round(judgement.kept_per_s)}  # the same number as on the live page and on the run's page
    answer = question.answer(judgement)
    proof = [] if judgement.verdict is Verdict.VOID else [f"{answer.number} {answer.words[ENGLISH]}".strip()]
    facts |= {"said": ", ".join([*proof, text("in_a_word", judgement.verdict)])}  # in the bar of Locust's page
    return facts | {"counter": judgement.final, "why": why(judgement), "report": os.path.relpath(report)}


def _print(text: str) -> None:
    print(text, flush=True)
