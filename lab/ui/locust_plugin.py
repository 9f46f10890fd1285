"""Locust's side of ``lab ui``: each press of Start in Locust's page becomes a run of the lab.

The lab listens on a Unix socket whose path is in the environment; where it is not, nothing here does anything. Questions
and answers are lines of JSON, a connection for each question:

    {"ask": "shelf"}                → {"stages": […], "scenarios": […], "stage", "scenario"}: names, each with what it is
                                      about, and those that are chosen at first
    {"ask": "check", "form": {…}}   → {} or {"refused": why}
    {"ask": "run", "form": {…}}     → {"plan": {…}} once the servers are up, or {"refused": why};
                                      {"stop": why} if the load has to end early
        {"ended": complete?}        → {"verdict": {…}} once it was judged and drawn

Locust checks nothing of what is posted to it (a stage that does not exist would start a test), so the lab is asked twice:
when the form is posted, where a refusal is shown above the Start button, and when the test starts.

Locust answers pages of any site (open CORS headers), and takes their posts; here it does not (``lab/ui/same_origin.py``).
"""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Callable
from typing import Any

import gevent
from flask import Response, g, jsonify, make_response, request
from flask_login import current_user
from gevent.event import AsyncResult
from locust.exception import StopTest
from locust.runners import STATE_RUNNING, STATE_SPAWNING, MasterRunner, WorkerRunner
from werkzeug.datastructures import ImmutableMultiDict

from lab.load.tickets import complete
from lab.scenario.options import FormField, form_options
from lab.ui.locust_environment import CONTROL, LIVE, PASSWORD
from lab.ui.locust_links import add_links
from lab.ui.locust_login import require
from lab.ui.same_origin import LOOPBACK, foreign

ANSWER_WITHIN_S = 10.0
PLAN_WITHIN_S = 120.0  # servers that do not come up are given up by the lab itself long before
VERDICT_WITHIN_S = 600.0  # a long history takes its time to be judged
NO_HOST = "(started by the lab for each run)"
TAB = "lost-increments"
COLUMNS = ("stage", "scenario", "acknowledged", "counter", "lost", "duplicated", "failed", "unknown", "verdict", "run")
TITLES = {"counter": "final", "run": "report"}  # where a column is not called as its figure is

log = logging.getLogger(__name__)


class Refused(Exception):  # noqa: N818 - says what happened
    """The lab does not do what was asked; the message says why."""


def attach(events: Any) -> None:
    """Join the lab that started this Locust, if one did. Call before other listeners to the start of a test are added."""
    if control := os.environ.get(CONTROL):
        page = Page(control)
        events.init_command_line_parser.add_listener(page.add_options)
        events.init.add_listener(page.open)
        events.test_start.add_listener(page.begin)
        events.test_stop.add_listener(page.end)


class Page:
    """Locust's page under the lab's rules: one run at a time, each as the form asks, and its verdict in a tab."""

    def __init__(self, control: str) -> None:
        self.control = control
        self.busy = False  # from the moment a form is posted until the run's verdict is here
        self.form: dict[str, str] = {}
        self.run: Run | None = None
        self.verdicts: list[dict[str, Any]] = []

    def add_options(self, parser: Any) -> None:
        """The lab's own fields of the form; the rest are the locustfile's."""
        shelf = ask(self.control, ask="shelf")
        parser.add_argument("--stage", choices=shelf["stages"], default=shelf["stage"], help="The lock.")
        parser.add_argument(
            "--scenario", choices=shelf["scenarios"], default=shelf["scenario"], help="The situation in which the lock is tested."
        )
        for option in form_options():
            if option.form is FormField.LAB:
                unit = f" In {option.unit}." if option.unit else ""
                parser.add_argument(option.flag, type=option.kind, default=0, help=f"{option.help}{unit} 0 keeps the default.")

    def open(self, environment: Any, **_: Any) -> None:
        """Before the page is served: add what it lacks. A worker serves none."""
        self.environment = environment
        environment.host = NO_HOST  # or the form asks for one
        if (web_ui := environment.web_ui) is None:
            return
        structure = [{"key": name, "title": TITLES.get(name, name)} for name in COLUMNS]
        web_ui.template_args["extended_tabs"] = [{"title": "Lost increments", "key": TAB}]
        web_ui.template_args["extended_tables"] = [{"key": TAB, "structure": structure}]
        app = web_ui.app
        app.jinja_env.policies["json.dumps_kwargs"] = {"sort_keys": False}  # of the form's fields the stage comes first
        app.before_request(self.guard)
        app.before_request(self.admit)
        app.after_request_funcs[None].insert(0, keep_to_itself)  # the last to see an answer is the first of the list
        app.after_request(self.complete)
        app.add_url_rule("/lab", "lab", self.tell)
        if password := os.environ.get(PASSWORD):
            require(web_ui, password)
        self.names = () if password else LOOPBACK
        self.secret = bool(password)

    def tell(self) -> Response:
        """Which lab's page this is, and whether all who send are there; to whoever may see them, the verdicts."""
        runner = self.environment.runner
        ready = not isinstance(runner, MasterRunner) or runner.worker_count >= self.environment.parsed_options.expect_workers
        seen = {} if self.secret and not current_user.is_authenticated else {"verdicts": self.verdicts}
        return jsonify({"control": self.control, "ready": ready} | seen)

    def guard(self) -> Response | None:
        """Refuse what a page of another site made a browser send."""
        if why := foreign(request.method, dict(request.headers), self.names):
            log.warning("refused %s %s: %s", request.method, request.path, why)
            return make_response(jsonify({"success": False, "message": why}), 403)
        return None

    def admit(self) -> Response | None:
        """Refuse a posted form that the lab would not run; the page shows why."""
        if request.endpoint != "locust.swarm":
            return None
        if self.secret and not current_user.is_authenticated:
            return None  # Locust itself asks for the password
        if self.busy:
            return refusal("a run is under way: wait for its verdict, or press Stop")
        self.busy = g.admitted = True
        self.form = request.form.to_dict()
        try:
            checked = ask(self.control, ask="check", form=self.form)
        except Refused as reason:
            log.warning("not started: %s", reason)
            return refusal(str(reason))
        if "users" in checked:  # as many as the lab says, and no more who would find nothing to do
            self.form["user_count"] = str(checked["users"])
        ours = {"stage", "scenario", "host", *(option.name for option in form_options())}
        rest = {name: value for name, value in self.form.items() if name not in ours}  # Locust itself must not act on ours
        request.form = ImmutableMultiDict(rest)  # Locust would trip over an empty number
        return None

    def complete(self, response: Response) -> Response:
        """Free the page after a form that started nothing; add the verdicts to the figures it asks for."""
        answer = response.get_json(silent=True) if response.is_json else None
        if g.pop("admitted", False) and not (answer and answer["success"]):
            self.busy = False
        if request.endpoint == "locust.stop" and self.run is None:
            self.busy = False  # stopped before the test had even started
        if request.endpoint == "locust.index" and response.status_code == 200:
            response.set_data(add_links(response.get_data(as_text=True), os.environ.get(LIVE, "")))
        if request.endpoint != "locust.request_stats" or answer is None:
            return response
        # the page looks again only while a test runs, so it runs until the verdict is here; Locust's own word may be 2 s old
        state = self.environment.runner.state
        answer["state"] = STATE_RUNNING if self.busy and state != STATE_SPAWNING else state
        answer["extended_stats"] = [{"key": TAB, "data": self.verdicts[::-1]}]
        return jsonify(answer)

    def begin(self, environment: Any, **_: Any) -> None:
        """A test starts: wait for its servers. Raises StopTest, and nothing is sent, when there will be none."""
        if isinstance(environment.runner, WorkerRunner):
            return  # the master has told it all
        environment.runner.update_state(STATE_SPAWNING)  # or Stop would do nothing while they come up
        environment.runner.lab_tickets = None  # those of the last test
        self.busy = True
        try:
            self.run = Run(self.control, self.form, self.stop)
            plan = self.run.hear(self.run.plan, PLAN_WITHIN_S)
        except Refused as reason:
            raise StopTest(f"not run: {reason}") from None
        environment.host = plan.pop("host")
        vars(environment.parsed_options).update(plan)

    def stop(self, why: str) -> None:
        """The lab cannot go on with this run."""
        log.error("stopping: %s", why)
        gevent.spawn(self.environment.runner.stop)

    def end(self, environment: Any, **_: Any) -> None:
        """Nobody sends any more: wait for the verdict."""
        if isinstance(environment.runner, WorkerRunner):
            return
        try:
            if self.run is not None:
                verdict = self.run.ended(complete=complete(environment.runner))
                log.info("%(stage)s under %(scenario)s: %(verdict)s, %(lost)s lost; %(report)s", verdict)
                self.verdicts.append(verdict)
        except Refused as reason:
            log.error("not run: %s", reason)
            asked = {name: self.form.get(name, "") for name in ("stage", "scenario")}
            self.verdicts.append(asked | {"verdict": f"not run: {reason}"})
        finally:
            self.run = None
            self.busy = False
            environment.host = NO_HOST


class Run:
    """A run as the lab tells of it: ``plan`` when its servers are up, ``verdict`` when it was judged."""

    def __init__(self, control: str, form: dict[str, str], stop: Callable[[str], None]) -> None:
        """Ask for it. stop: called with the reason if it has to end early. Raises Refused when the lab is not there."""
        self.plan: AsyncResult[dict[str, Any]] = AsyncResult()
        self.verdict: AsyncResult[dict[str, Any]] = AsyncResult()
        self._line = connect(control)
        self._say(ask="run", form=form)
        gevent.spawn(self._listen, stop)

    def hear(self, what: AsyncResult[dict[str, Any]], within_s: float) -> dict[str, Any]:
        """Wait for the plan or the verdict. Raises Refused."""
        try:
            heard: dict[str, Any] = what.get(timeout=within_s)
        except gevent.Timeout:
            raise Refused(f"the lab has not answered for {within_s:.0f} s") from None
        return heard

    def ended(self, complete: bool) -> dict[str, Any]:
        """Say that nothing more is sent, and whether all was; the verdict. Raises Refused when there is none."""
        if not self.verdict.ready():
            self._say(ended=complete)
        return self.hear(self.verdict, VERDICT_WITHIN_S)

    def _say(self, **message: Any) -> None:
        try:
            self._line.sendall(json.dumps(message).encode() + b"\n")
        except OSError as error:
            self._refuse(f"the lab is gone: {error}")

    def _listen(self, stop: Callable[[str], None]) -> None:
        why = "the lab is gone"
        with self._line, self._line.makefile(encoding="utf-8") as lines:
            for line in lines:
                heard = json.loads(line)
                if "plan" in heard:
                    self.plan.set(heard["plan"])
                elif "stop" in heard:
                    stop(heard["stop"])
                else:
                    why = heard.get("refused", why)
                    if "verdict" in heard:
                        self.verdict.set(heard["verdict"])
                    break
        self._refuse(why)

    def _refuse(self, why: str) -> None:
        for result in (self.plan, self.verdict):
            if not result.ready():
                result.set_exception(Refused(why))


def ask(control: str, **question: Any) -> dict[str, Any]:
    """Ask the lab one thing. Raises Refused."""
    try:
        with connect(control) as line, line.makefile("rw", encoding="utf-8") as lines:
            line.settimeout(ANSWER_WITHIN_S)
            print(json.dumps(question), file=lines, flush=True)
            answer: dict[str, Any] = json.loads(lines.readline())
    except (OSError, ValueError) as error:
        raise Refused(f"the lab does not answer: {error}") from error
    if "refused" in answer:
        raise Refused(answer["refused"])
    return answer


def connect(control: str) -> socket.socket:
    """A line to the lab. Raises Refused when nobody is there."""
    line = socket.socket(socket.AF_UNIX)
    try:
        line.connect(control)
    except OSError as error:
        line.close()
        raise Refused(f"the lab is gone: {error}") from error
    return line


def keep_to_itself(response: Response) -> Response:
    """Take back what Locust lets every site read, and let none put its buttons into a frame."""
    response.headers["X-Frame-Options"] = "DENY"
    for name in [name for name, _ in response.headers if name.lower().startswith("access-control-")]:
        del response.headers[name]
    return response


def refusal(why: str) -> Response:
    """As Locust itself refuses a form: not as an HTTP error, of which the page would only say that it is unknown."""
    return jsonify({"success": False, "message": why})
