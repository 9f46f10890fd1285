"""Locust's side of ``lab ui``: each press of Start in Locust's page becomes a run of the lab.

The lab answers at its own pages' address, which is in the environment with a key; without it, this module does
nothing. Questions and answers are JSON, and each answer may be {"refused": why} instead:

    shelf                           → {"stages": […], "scenarios": […], "stage", "scenario"}: the form's two lists (names,
                                      each with its title), and the first choices
    check {"form": {…}}             → {"user_count", "spawn_rate": the users that Locust starts}
    run {"form": {…}}               → the plan of the load, once the servers are up
    ended {"complete": …}           → the verdict and its figures, once the run is judged and drawn

If the load has to end early, the lab stops the test in Locust's page, as a visitor does.
Locust checks no posted field (an unknown stage would start a test). So the lab is asked twice: when
the form is posted, where a refusal is shown above the Start button, and when the test starts.

Locust lets pages of any site read its answers (``Access-Control-Allow-Origin: *``) and post to it.
Under the lab it does not (``lab/ui/both_sides.py``).
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flask import Response, g, jsonify, redirect, render_template_string, request
from locust.exception import StopTest
from locust.runners import STATE_RUNNING, STATE_SPAWNING, MasterRunner, WorkerRunner
from werkzeug.datastructures import ImmutableMultiDict

from app.origin import foreign
from lab.load.tickets import complete
from lab.scenario.options import form_options
from lab.ui.both_sides import KEY, LIVE, LOOPBACK, ORDERS, ORDERS_KEY, SENT_KEY, Refusal
from lab.ui.joining import is_equal, is_teacher, stay_teacher

ANSWER_WITHIN_S = 10.0
PLAN_WITHIN_S = 120.0  # the lab itself gives up waiting for its servers long before
VERDICT_WITHIN_S = 600.0  # to judge a long history takes long
NO_HOST = "(started by the lab for each run)"
OF_THE_LOCUSTFILE = ("rate", "requests", "think_ms")  # options whose field the locustfile itself adds
TAB = "lost-increments"
COLUMNS = (
    *("stage", "scenario", "acknowledged", "counter", "lost", "duplicated", "failed", "unknown", "kept_per_s"),
    *("verdict", "run"),
)
TITLES = {
    "counter": "final",
    "kept_per_s": "kept a second",
    "run": "report",
}  # columns whose title differs from the figure's name

FIELDS = {"num_users": "userCount", "spawn_rate": "spawnRate"}  # the names of these options in Locust's form
SCRIPT, REFUSED = (Path(__file__).with_name("templates") / name for name in ("locust_links.js", "refused.html"))

log = logging.getLogger(__name__)


class RequestRefused(Exception):  # noqa: N818 - an event
    """The lab refuses the request; the message is the reason."""


def attach(events: Any) -> None:
    """Connect Locust to the lab that started it, if there is one. Call before other listeners to
    the start of a test are added.
    """
    if live := os.environ.get(LIVE):
        plugin = LabPlugin(live, os.environ[KEY])
        events.init_command_line_parser.add_listener(plugin.add_options)
        events.init.add_listener(plugin.open)
        events.test_start.add_listener(plugin.begin)
        events.test_stop.add_listener(plugin.end)


class LabPlugin:
    """Locust's page under the lab's rules: one run at a time, as the form requests it, with its verdict in a tab."""

    def __init__(self, live: str, key: str) -> None:
        """live: the address of the lab's own pages. key: the teacher's; empty if no visitor needs one."""
        self.live, self.key = live, key
        self.port = int(live.rpartition(":")[2])
        self.busy = False  # from the moment a form is posted until the run's verdict has arrived
        self.form: dict[str, str] = {}
        self.has_run = False  # whether a run was requested from the lab, and its verdict has not arrived
        self.is_judging = False  # whether the load has ended, and its verdict has not arrived
        self.verdicts: list[dict[str, Any]] = []

    def add_options(self, parser: Any) -> None:
        """Add the stage, the scenario and options to the form. Locust has the number of users and the ramp up."""
        offered = ask("shelf")
        parser.add_argument("--stage", choices=offered["stages"], default=offered["stage"], help="The lock.")
        parser.add_argument(
            "--scenario",
            choices=offered["scenarios"],
            default=offered["scenario"],
            help="The situation in which the lock is tested.",
        )
        for option in form_options():
            if option.name not in OF_THE_LOCUSTFILE:
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
        app.config["TRUSTED_HOSTS"] = None if self.key else list(LOOPBACK)
        app.before_request(self.guard)
        app.before_request(self.admit)
        app.after_request_funcs[None].insert(0, forbid_other_sites)  # the first function of the list is called last
        app.after_request(self.complete)
        app.add_url_rule("/lab", "lab", self.state)

    def state(self) -> Response:
        """Return the address of the lab, whether all workers have joined, and the verdicts."""
        runner = self.environment.runner
        ready = not isinstance(runner, MasterRunner) or runner.worker_count >= self.environment.parsed_options.expect_workers
        return jsonify({"live": self.live, "ready": ready, "verdicts": self.verdicts})

    def guard(self) -> Any:
        """Refuse requests that a page of another site made a browser send, and requests without the teacher's key."""
        why, key, port = foreign(request), self.key, self.port
        if not why and key and request.path == "/" and is_equal(request.args.get("k", ""), key):
            g.refused = True  # by this answer: a cookie stands for the key from now on, and the address loses it
            entered = redirect("/", 303)
            stay_teacher(entered, port, key)
            return entered
        if not why and key and not is_teacher(request, port, key):
            why = Refusal.TEACHER_ONLY
        if not why:
            return None
        log.warning("refused %s %s: %s", request.method, request.path, why)
        g.refused = True
        if request.path == "/" or "text/html" in request.headers.get("Accept", ""):  # a person reads it
            return Response(render_template_string(REFUSED.read_text(encoding="utf-8"), why=why, port=port), 403)
        return jsonify({"success": False, "message": why}), 403

    def admit(self) -> Response | None:
        """Refuse a posted form that the lab would not run; the page shows the reason."""
        if request.endpoint != "locust.swarm":
            return None
        if self.busy:
            return refusal(Refusal.BUSY)
        self.busy = g.admitted = True
        self.form = request.form.to_dict()
        try:
            checked = ask("check", form=self.form)
        except RequestRefused as reason:
            log.warning("not started: %s", reason)
            return refusal(str(reason))
        ours = {"stage", "scenario", "host", *(option.name for option in form_options())}
        rest = {name: value for name, value in self.form.items() if name not in ours}  # Locust would fail on an empty number
        request.form = ImmutableMultiDict(rest | {name: str(value) for name, value in checked.items()})
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
        if request.endpoint == "locust.stop" and not self.has_run:
            self.busy = False  # stopped before the test had even started
        if request.endpoint == "locust.index" and response.status_code == 200:
            response.set_data(add_links(response.get_data(as_text=True), str(self.port), self.at_first))
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
        self.busy = self.has_run = True
        try:
            plan = ask("run", PLAN_WITHIN_S, form=self.form)
        except RequestRefused as reason:
            raise StopTest(f"not run: {reason}") from None
        environment.host = plan.pop("host")
        vars(environment.parsed_options).update(plan)

    def end(self, environment: Any, **_: Any) -> None:
        """Wait for the verdict when a test has ended."""
        if isinstance(environment.runner, WorkerRunner):
            return
        try:
            if self.has_run:
                self.is_judging = True
                verdict = ask("ended", VERDICT_WITHIN_S, complete=complete(environment.runner))
                log.info("%(stage)s under %(scenario)s: %(verdict)s, %(lost)s lost; %(report)s", verdict)
                self.verdicts.append(verdict)
        except RequestRefused as reason:
            log.error("not run: %s", reason)
            asked = {name: self.form.get(name, "") for name in ("stage", "scenario")}
            self.verdicts.append(asked | {"verdict": f"not run: {reason}", "said": f"not run: {reason}"})
        finally:
            self.busy = self.has_run = self.is_judging = False
            environment.host = NO_HOST


def ask(order: str, within_s: float = ANSWER_WITHIN_S, **about: Any) -> dict[str, Any]:
    """Ask the lab, and return its answer. Raises RequestRefused."""
    import requests  # not before gevent has patched ssl

    address, key = f"{os.environ[LIVE]}{ORDERS}{order}", {SENT_KEY: os.environ[ORDERS_KEY]}
    try:
        answer: dict[str, Any] = requests.post(address, json=about, headers=key, timeout=within_s).json()
    except (requests.RequestException, ValueError) as error:
        raise RequestRefused(f"the lab does not answer: {error}") from error
    if "refused" in answer:
        raise RequestRefused(answer["refused"])
    return answer


def add_links(page: str, port: str, at_first: Mapping[str, float]) -> str:
    """Return Locust's page with the lab's additions: a link to the live page, and in the cells of the tab links to reports.

    Locust rewrites its own elements. So the additions are outside of them, and cells become links again after each rewriting.

    port: of the live page; nothing is added if empty. at_first: Locust's own options with a field in its form, and their values
    when the form opens.
    """
    if not port:
        return page
    fields = {FIELDS[name]: f"{value:g}" for name, value in at_first.items()}
    known = {"PORT": port, "FIELDS": fields, "OPTIONS": [FIELDS["num_users"], *(option.name for option in form_options())]}
    script = SCRIPT.read_text(encoding="utf-8")
    for name, value in known.items():
        script = script.replace(f'"{name}"', json.dumps(value))
    return page.replace("</body>", f"<script>\n{script}</script>\n</body>")


def forbid_other_sites(response: Response) -> Response:
    """Remove the ``Access-Control-…`` headers, which let every site read the answer, and forbid frames."""
    response.headers["X-Frame-Options"] = "DENY"
    for name in [name for name, _ in response.headers if name.lower().startswith("access-control-")]:
        del response.headers[name]
    return response


def refusal(why: str) -> Response:
    """Return a refusal as Locust's page expects it, with status 200. For an HTTP error the page would not show the reason."""
    return jsonify({"success": False, "message": why})
