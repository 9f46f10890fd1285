"""The lab's own page, its events, and the pages of runs, at one address."""

from __future__ import annotations

import csv
import io
import os
import queue
import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from flask import Response, abort, redirect, request, session
from werkzeug.exceptions import HTTPException
from werkzeug.sansio.utils import host_is_trusted

from lab.containers.engine import LOCAL, engine
from lab.errors import BadInput
from lab.language import of_environment
from lab.paths import REPORTS
from lab.scenario import reader as scenarios
from lab.story.say import ENGLISH
from lab.ui import live_page, question
from lab.ui.addresses import JOIN, PROJECTOR, VOTE, from_elsewhere, joining
from lab.ui.both_sides import LOOPBACK, ORDERS, Refusal
from lab.ui.event_stream import TooManyListeners, encoded
from lab.ui.joining import Admission, Invitation, Keys, Role, as_teacher, is_equal, is_teacher, stay_teacher
from lab.ui.live_state import SHEET, LiveState, UnderWay
from lab.ui.locust_process import UP_WITHIN_S, LocustClient, NotStarted
from lab.ui.locust_run import Orders
from lab.ui.posted import PostedPlace, PostedPrediction, PostedScreen, decoded
from lab.ui.predictions import Full
from lab.ui.static_server import Site

LONGEST = 4096  # bytes of a post
DRAWN_WITHIN_S = 30.0  # until the pictures of the run before are drawn, a new run waits
SILENT_S = 15.0
# a page may load content from this server only, and no page may show it in a frame
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'"
)
PAGES = {"/": Role.TEACHER, "/live": Role.TEACHER, VOTE: Role.VOTER, PROJECTOR: Role.ONLOOKER}  # by view: the right it needs
PREDICTION = "/live/prediction"


class LiveServer(Site):
    """Serves from its own threads until it is closed. Raises BadInput without the port.

    teacher: the teacher's key; empty if no visitor needs one. orders: answers Locust.
    """

    def __init__(
        self,
        state: LiveState,
        host: str,
        port: int,
        locust_port: int,
        teacher: str = "",
        reports: Path = REPORTS,
        orders: Orders | None = None,
    ) -> None:
        super().__init__(reports, port, host, () if teacher else LOOPBACK)
        self.state, self.locust_port = state, locust_port
        self.ready = threading.Event()  # whether Locust answers: Start waits for it
        self.ready.set()
        self.keys, self.orders = Keys(teacher), orders or Orders()
        self.locust = LocustClient(host, locust_port, as_teacher(self.port, teacher))
        name = from_elsewhere(host) if teacher and engine() == LOCAL else ""  # a container does not know its host's address
        address = f"{name}:{self.port}"
        code = f"http://{address}{VOTE}?k={self.keys.vote}"
        self.invitation = Invitation(address, code, self.keys.word) if name else Invitation()
        # the port is in the names of the cookies: two labs on one machine have their own
        self.app.config.update(SECRET_KEY=secrets.token_bytes(), SESSION_COOKIE_NAME=f"lab_device_{self.port}")
        self.app.config.update(SESSION_COOKIE_SAMESITE="Lax", MAX_CONTENT_LENGTH=LONGEST)
        for path in PAGES:
            self.app.add_url_rule(path, "first")
        self.app.add_url_rule(f"{ORDERS}<order>", "orders", self.orders.answer, methods=["POST"])
        self.app.add_url_rule(JOIN, "join", self._join, methods=["GET", "POST"])
        self.app.add_url_rule("/live/mine", "mine", self._mine)
        self.app.add_url_rule("/live/news", "news", self._news)
        self.app.add_url_rule("/live/lost.svg", "lost", lambda: Response(state.lost, mimetype="image/svg+xml"))
        self.app.add_url_rule("/live/sheet.csv", "sheet", self._sheet)
        for name, post in {"lesson": self._teach, "screen": self._show, "start": self._begin, "stop": self._stop}.items():
            self.app.add_url_rule(f"/live/{name}", name, post, methods=["POST"])
        self.app.add_url_rule(PREDICTION, "prediction", self._predict, methods=["POST"])
        for reason in (BadInput, Full, NotStarted, UnderWay):
            self.app.register_error_handler(reason, lambda why: (live_page.refused(why.args[0]), 400))
        self.app.register_error_handler(HTTPException, self._refuse)
        self.start()

    def ways(self) -> dict[str, str]:
        return {"lab": "/"} | super().ways()

    def admit(self) -> None:
        super().admit()
        request.get_data()  # reads the whole post, and so refuses one that is too long
        if request.path in (*PAGES, JOIN) or request.endpoint == "orders":
            return
        if request.method == "POST" and request.path != PREDICTION and self._role() is not Role.TEACHER:
            abort(403, Refusal.TEACHER_ONLY)
        if self._role() is Role.STRANGER or (request.path == PREDICTION and "device" not in session):
            abort(403, Refusal.NOT_JOINED)

    def complete(self, response: Response) -> Response:
        response.headers["Referrer-Policy"] = "same-origin"  # no other server gets an address of this one
        if request.endpoint != "file":
            response.headers["Cache-Control"] = "no-store"
            response.headers["Content-Security-Policy"] = POLICY
        return super().complete(response)

    def _refuse(self, why: HTTPException) -> Any:
        return (live_page.refused(why.description), why.code) if request.path.startswith("/live/") else why

    # the visitor
    def _role(self) -> Role:
        if not self.keys.teacher or is_teacher(request, self.port, self.keys.teacher):
            return Role.TEACHER
        if "device" in session:
            return Role.VOTER
        # a program on this machine comes from the address that it goes to
        here = request.environ["werkzeug.socket"].getsockname()[0]
        is_here = request.remote_addr == here and host_is_trusted(request.host, [here, *LOOPBACK])
        return Role.ONLOOKER if is_here else Role.STRANGER

    def first(self) -> Any:
        """Answer the address of a view. An address with a key leads to the one without, with a cookie in place of the key."""
        if key := request.args.get("k"):
            return self._enter(key)
        if (role := self._role()) < PAGES[request.path]:
            return redirect(VOTE if role is Role.VOTER else joining(request.path), 303)
        if role is not Role.ONLOOKER:
            number_device()
        shown = (self.invitation, self.locust_port, self.ways(), of_environment(os.environ))
        return live_page.text(*shown, role is Role.TEACHER)

    def _enter(self, key: str) -> Any:
        response = redirect(request.path, 303)
        if self.keys.teacher and is_equal(key, self.keys.teacher):
            stay_teacher(response, self.port, key)
        elif self.keys.teacher and not is_equal(key, self.keys.vote):
            return self._join_page(Admission.UNKNOWN)
        number_device()
        return response

    def _join(self) -> Any:
        """Show the page for the word of the class, and let in a visitor with the right word."""
        if request.method != "POST":
            return self._join_page(Admission.OPEN)
        entry = self.keys.typed(request.form.get("word", ""), request.remote_addr or "")
        if entry is not Admission.OPEN:
            return self._join_page(entry)
        number_device()
        return redirect(_wanted(), 303)

    def _join_page(self, entry: Admission) -> tuple[str, int]:
        text = live_page.join_text(entry, joining(_wanted()))
        return text, 200 if entry is Admission.OPEN else 403

    # the paths that the pages get and post
    def _mine(self) -> dict[str, Any]:
        """Return the visitor's own predictions for the present question, and how many visitors have made one."""
        asked, predictions = self.state.asked, self.state.predictions
        return {"mine": predictions.of(session.get("device", ""), asked), "voted": predictions.voted(asked)}

    def _predict(self) -> dict[str, Any]:
        posted, state = decoded(request.data, PostedPrediction), self.state
        if (posted.stage, posted.scenario) != state.asked:
            raise BadInput(f"the class is asked about {' under '.join(state.asked)}, not {posted.stage} under {posted.scenario}")
        scenario = scenarios.load(posted.scenario)
        choices = question.of_claim(scenario.tests.name, ENGLISH)["choices"]
        if not 0 <= posted.choice < len(choices):
            offered = ", ".join(f"{place}: {text}" for place, text in enumerate(choices))
            raise BadInput(f"choice: there is no choice {posted.choice} for {scenario.name}; its choices are {offered}")
        state.predict(session["device"], posted.stage, scenario, posted.choice)
        return self._mine()

    def _teach(self) -> dict[str, Any]:
        posted = decoded(request.data, PostedPlace)
        self.state.teach(posted.step, posted.run)
        return {}

    def _show(self) -> dict[str, Any]:
        posted = decoded(request.data, PostedScreen)
        self.state.show(posted.screen, posted.step)
        return {}

    def _begin(self) -> dict[str, Any]:
        """Start the run that the class is at."""
        if (taught := self.state.taught) is None:
            raise BadInput("the class is at no run of the lesson; all other runs are started in Locust's page")
        self.ready.wait(UP_WITHIN_S)
        until_s = time.monotonic() + DRAWN_WITHIN_S
        while True:
            try:
                self.locust.start(taught.stage, taught.scenario.name, taught.form)
                return {}
            except NotStarted as reason:
                if str(reason) != Refusal.BUSY:
                    raise
                if self.state.under_way or time.monotonic() > until_s:
                    raise UnderWay(Refusal.BUSY) from None
            time.sleep(0.1)  # the pictures of the run before are being drawn

    def _stop(self) -> dict[str, Any]:
        self.locust.stop()
        return {}

    def _sheet(self) -> Response:
        """Return the result sheet of the class as CSV, with the mark by which spreadsheets know UTF-8."""
        text = io.StringIO("\ufeff")
        text.seek(0, io.SEEK_END)
        rows = csv.DictWriter(text, SHEET)
        rows.writeheader()
        rows.writerows(self.state.sheet)
        return Response(text.getvalue(), mimetype="text/csv", headers={"Content-Disposition": "attachment; filename=class.csv"})

    def _news(self) -> Response:
        """Send events until the browser disconnects or the server ends."""
        try:
            now, news = self.state.follow()
        except TooManyListeners as reason:
            abort(503, str(reason))
        response = Response(_messages(encoded(now), news), mimetype="text/event-stream")
        response.call_on_close(lambda: self.state.news.leave(news))
        return response


def number_device() -> None:
    """Give the visitor's browser a number in its cookie, if it has none."""
    session.setdefault("device", secrets.token_hex(12))


def _wanted() -> str:
    """Return which page a visitor of the page of the word goes on to: the projector's, if it came from there."""
    return PROJECTOR if request.args.get("then", request.path) == PROJECTOR else VOTE


def _messages(now: bytes, news: queue.Queue[bytes | None]) -> Iterator[bytes]:
    yield now
    while True:
        try:
            message = news.get(timeout=SILENT_S)
        except queue.Empty:
            message = b": still here\n\n"
        if message is None:
            return
        yield message
