"""Locust's side of ``lab ui``: each press of Start in Locust's page becomes a run of the lab.

The lab listens on a Unix socket whose path is in the environment; without it, this module does
nothing. Requests and answers are lines of JSON, with a connection for each request:

    {"ask": "shelf"}                → {"stages": […], "scenarios": […], "stage", "scenario"}: what the form's two
                                      lists offer (names, each with its title), and the first choices
    {"ask": "check", "form": {…}}   → {"users": how many users Locust starts} or {"refused": why}
    {"ask": "run", "form": {…}}     → {"plan": {…}} once the servers are up, or {"refused": why};
                                      {"stop": why} if the load has to end early
        {"ended": complete?}        → {"verdict": {…}, "picture": SVG} once the run is judged and drawn

Locust checks no posted field (an unknown stage would start a test). So the lab is asked twice: when
the form is posted, where a refusal is shown above the Start button, and when the test starts.

Locust lets pages of any site read its answers (``Access-Control-Allow-Origin: *``) and post to it.
Under the lab it does not (``lab/ui/both_sides.py``).
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Callable
from html import escape
from typing import Any

import gevent
from flask import Response, g, jsonify, make_response, redirect, request
from gevent.event import AsyncResult
from locust.exception import StopTest
from locust.runners import STATE_RUNNING, STATE_SPAWNING, MasterRunner, WorkerRunner
from werkzeug.datastructures import ImmutableMultiDict

from lab.load.tickets import complete
from lab.scenario.options import FormField, form_options
from lab.ui.both_sides import BUSY, CONTROL, KEY, LIVE, LOOPBACK, foreign
from lab.ui.joining import TEACHER_ONLY, is_teacher, same, stay_teacher
from lab.ui.locust_links import add_links

ANSWER_WITHIN_S = 10.0
PLAN_WITHIN_S = 120.0  # the lab itself gives up waiting for its servers long before
VERDICT_WITHIN_S = 600.0  # to judge a long history takes long
NO_HOST = "(started by the lab for each run)"
TAB = "lost-increments"
PAGE = '<!doctype html><html lang="en"><meta name="viewport" content="width=device-width"><title>The lock lab</title><p>{why}.'
COLUMNS = (
    *("stage", "scenario", "acknowledged", "counter", "lost", "duplicated", "failed", "unknown", "kept_per_s"),
    *("verdict", "run"),
)
TITLES = {
    "counter": "final",
    "kept_per_s": "kept a second",
    "run": "report",
}  # columns whose title differs from the figure's name

log = logging.getLogger(__name__)


class RequestRefused(Exception):  # noqa: N818 - states what happened
    """The lab refuses the request; the message is the reason."""


def attach(events: Any) -> None:
    """Connect Locust to the lab that started it, if there is one. Call before other listeners to
    the start of a test are added.
    """
    if control := os.environ.get(CONTROL):
        plugin = LabPlugin(control)
        events.init_command_line_parser.add_listener(plugin.add_options)
        events.init.add_listener(plugin.open)
        events.test_start.add_listener(plugin.begin)
        events.test_stop.add_listener(plugin.end)


class LabPlugin:
    """Locust's page under the lab's rules: one run at a time, as the form requests it, with its verdict in a tab."""

    def __init__(self, control: str) -> None:
        self.control = control
        self.busy = False  # from the moment a form is posted until the run's verdict has arrived
        self.form: dict[str, str] = {}
        self.run: RunConnection | None = None
        self.is_judging = False  # whether the load has ended, and its verdict has not arrived
        self.verdicts: list[dict[str, Any]] = []
        self.picture = ""  # of the lost increments of all runs

    def add_options(self, parser: Any) -> None:
        """Add the stage, the scenario and the options of ``FormField.LAB`` to the form.

        The locustfile adds its own fields, and Locust has the number of users and the ramp up.
        """
        offered = ask(self.control, ask="shelf")
        parser.add_argument("--stage", choices=offered["stages"], default=offered["stage"], help="The lock.")
        parser.add_argument(
            "--scenario",
            choices=offered["scenarios"],
            default=offered["scenario"],
            help="The situation in which the lock is tested.",
        )
        for option in form_options():
            if option.form is FormField.LAB:
                unit = f" In {option.unit}." if option.unit else ""
                parser.add_argument(option.flag, type=option.kind, default=0, help=f"{option.help}{unit} 0 keeps the default.")

    def open(self, environment: Any, **_: Any) -> None:
        """Extend the page before it is served. A worker serves no page."""
        self.environment = environment
        environment.host = NO_HOST  # otherwise the form would ask for a host
        self.at_first = {name: getattr(environment.parsed_options, name) for name in ("num_users", "spawn_rate")}
        if (web_ui := environment.web_ui) is None:
            return
        structure = [{"key": name, "title": TITLES.get(name, name)} for name in COLUMNS]
        web_ui.template_args["extended_tabs"] = [{"title": "Lost increments", "key": TAB}]
        web_ui.template_args["extended_tables"] = [{"key": TAB, "structure": structure}]
        app = web_ui.app
        app.jinja_env.policies["json.dumps_kwargs"] = {"sort_keys": False}  # the stage is the form's first field
        app.config["TRUSTED_HOSTS"] = None if os.environ[KEY] else list(LOOPBACK)
        app.before_request(self.guard)
        app.before_request(self.admit)
        app.after_request_funcs[None].insert(0, forbid_other_sites)  # the first function of the list is called last
        app.after_request(self.complete)
        app.add_url_rule("/lab", "lab", self.state)
        app.add_url_rule("/lab/lost.svg", "lab_lost", lambda: Response(self.picture, mimetype="image/svg+xml"))

    def state(self) -> Response:
        """Return the socket path of the lab, whether all workers have joined, and the verdicts."""
        runner = self.environment.runner
        ready = not isinstance(runner, MasterRunner) or runner.worker_count >= self.environment.parsed_options.expect_workers
        return jsonify({"control": self.control, "ready": ready, "verdicts": self.verdicts})

    def guard(self) -> Any:
        """Refuse requests that a page of another site made a browser send, and those without the teacher's key."""
        why, key, port = foreign(request), os.environ[KEY], int(os.environ[LIVE])
        if not why and key and request.path == "/" and same(request.args.get("k", ""), key):
            g.refused = True  # by this answer: a cookie stands for the key from now on, and the address loses it
            entered = redirect("/", 303)
            stay_teacher(entered, port, key)
            return entered
        if not why and key and not is_teacher(request, port, key):
            why = TEACHER_ONLY
        if not why:
            return None
        log.warning("refused %s %s: %s", request.method, request.path, why)
        g.refused = True
        if request.path == "/":  # a person reads it
            return Response(PAGE.format(why=escape(why, quote=False)), 403, mimetype="text/html")
        return make_response(jsonify({"success": False, "message": why}), 403)

    def admit(self) -> Response | None:
        """Refuse a posted form that the lab would not run; the page shows the reason."""
        if request.endpoint != "locust.swarm":
            return None
        if self.busy:
            return refusal(BUSY)
        self.busy = g.admitted = True
        self.form = request.form.to_dict()
        try:
            checked = ask(self.control, ask="check", form=self.form)
        except RequestRefused as reason:
            log.warning("not started: %s", reason)
            return refusal(str(reason))
        ours = {"stage", "scenario", "host", *(option.name for option in form_options())}
        rest = {name: value for name, value in self.form.items() if name not in ours}  # Locust would fail on an empty number
        request.form = ImmutableMultiDict(rest | {"user_count": str(checked["users"])})
        return None

    def complete(self, response: Response) -> Response:
        """Free the page after a form that started nothing; add the verdicts to the statistics that
        the page requests.
        """
        if g.pop("refused", False):
            return response
        answer = response.get_json(silent=True) if response.is_json else None
        if g.pop("admitted", False) and not (answer and answer["success"]):
            self.busy = False
        if request.endpoint == "locust.stop" and self.run is None:
            self.busy = False  # stopped before the test had even started
        if request.endpoint == "locust.index" and response.status_code == 200:
            response.set_data(add_links(response.get_data(as_text=True), os.environ.get(LIVE, ""), self.at_first))
        if request.endpoint != "locust.request_stats" or answer is None:
            return response
        # the page asks again only while a test runs, so the state is "running" until the verdict has arrived
        state = self.environment.runner.state
        answer["state"] = STATE_RUNNING if self.busy and state != STATE_SPAWNING else state
        answer["judging"] = self.is_judging
        answer["extended_stats"] = [{"key": TAB, "data": self.verdicts[::-1]}]
        return jsonify(answer)

    def begin(self, environment: Any, **_: Any) -> None:
        """Wait for the servers of a test that starts. Raises StopTest, and nothing is sent, when
        the run is refused.
        """
        if isinstance(environment.runner, WorkerRunner):
            return  # the master passes everything on to its workers
        environment.runner.update_state(STATE_SPAWNING)  # otherwise Stop would do nothing while the servers start
        environment.runner.lab_tickets = None  # the tickets of the last test are no longer valid
        self.busy = True
        try:
            self.run = RunConnection(self.control, self.form, self.stop)
            plan = self.run.wait_for(self.run.plan, PLAN_WITHIN_S)
        except RequestRefused as reason:
            raise StopTest(f"not run: {reason}") from None
        environment.host = plan.pop("host")
        vars(environment.parsed_options).update(plan)

    def stop(self, why: str) -> None:
        """Stop the test, because the lab cannot continue this run."""
        log.error("stopping: %s", why)
        gevent.spawn(self.environment.runner.stop)

    def end(self, environment: Any, **_: Any) -> None:
        """Wait for the verdict when a test has ended."""
        if isinstance(environment.runner, WorkerRunner):
            return
        try:
            if self.run is not None:
                self.is_judging = True
                judged = self.run.ended(complete=complete(environment.runner))
                verdict, self.picture = judged["verdict"], judged["picture"] or self.picture
                log.info("%(stage)s under %(scenario)s: %(verdict)s, %(lost)s lost; %(report)s", verdict)
                self.verdicts.append(verdict)
        except RequestRefused as reason:
            log.error("not run: %s", reason)
            asked = {name: self.form.get(name, "") for name in ("stage", "scenario")}
            self.verdicts.append(asked | {"verdict": f"not run: {reason}", "said": f"not run: {reason}"})
        finally:
            self.run = None
            self.busy = self.is_judging = False
            environment.host = NO_HOST


class RunConnection:
    """The connection for one run: ``plan`` arrives when its servers are up, ``verdict`` when it is judged."""

    def __init__(self, control: str, form: dict[str, str], stop: Callable[[str], None]) -> None:
        """Request the run. Raises RequestRefused when the lab does not answer.

        stop: called with the reason if the run has to end early.
        """
        self.plan: AsyncResult[dict[str, Any]] = AsyncResult()
        self.verdict: AsyncResult[dict[str, Any]] = AsyncResult()
        self._line = connect(control)
        self._send(ask="run", form=form)
        gevent.spawn(self._listen, stop)

    def wait_for(self, result: AsyncResult[dict[str, Any]], within_s: float) -> dict[str, Any]:
        """Wait for the plan or the verdict. Raises RequestRefused."""
        try:
            answer: dict[str, Any] = result.get(timeout=within_s)
        except gevent.Timeout:
            raise RequestRefused(f"the lab has not answered for {within_s:.0f} s") from None
        return answer

    def ended(self, complete: bool) -> dict[str, Any]:
        """Report that nothing more is sent, and whether all was sent. Return the verdict and the picture of all runs.

        Raises RequestRefused when there is none.
        """
        if not self.verdict.ready():
            self._send(ended=complete)
        return self.wait_for(self.verdict, VERDICT_WITHIN_S)

    def _send(self, **message: Any) -> None:
        try:
            self._line.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            self._refuse(f"the lab has ended: {error}")

    def _listen(self, stop: Callable[[str], None]) -> None:
        why = "the lab has ended"
        with self._line, self._line.makefile(encoding="utf-8") as lines:
            for line in lines:
                message = json.loads(line)
                if "plan" in message:
                    self.plan.set(message["plan"])
                elif "stop" in message:
                    stop(message["stop"])
                else:
                    why = message.get("refused", why)
                    if "verdict" in message:
                        self.verdict.set(message)
                    break
        self._refuse(why)

    def _refuse(self, why: str) -> None:
        for result in (self.plan, self.verdict):
            if not result.ready():
                result.set_exception(RequestRefused(why))


def ask(control: str, **question: Any) -> dict[str, Any]:
    """Send the lab one request, and return its answer. Raises RequestRefused."""
    try:
        with connect(control) as line, line.makefile("rw", encoding="utf-8") as lines:
            line.settimeout(ANSWER_WITHIN_S)
            print(json.dumps(question), file=lines, flush=True)
            answer: dict[str, Any] = json.loads(lines.readline())
    except (OSError, ValueError) as error:
        raise RequestRefused(f"the lab does not answer: {error}") from error
    if "refused" in answer:
        raise RequestRefused(answer["refused"])
    return answer


def connect(control: str) -> socket.socket:
    """Connect to the lab. Raises RequestRefused when it does not listen."""
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(control)
    except OSError as error:
        line.close()
        raise RequestRefused(f"the lab has ended: {error}") from error
    return line


def forbid_other_sites(response: Response) -> Response:
    """Remove the ``Access-Control-…`` headers, which let every site read the answer, and forbid frames."""
    response.headers["X-Frame-Options"] = "DENY"
    for name in [name for name, _ in response.headers if name.lower().startswith("access-control-")]:
        del response.headers[name]
    return response


def refusal(why: str) -> Response:
    """Return a refusal as Locust's page expects it, with status 200. For an HTTP error the page would not show the reason."""
    return jsonify({"success": False, "message": why})
