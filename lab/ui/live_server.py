"""The lab's own page, its events, and the pages of runs, at one address."""

from __future__ import annotations

import base64
import contextlib
import os
import queue
import secrets
import threading
import time
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import msgspec

from app.locks import stages
from lab.containers.backend import LOCAL, engine
from lab.errors import BadInput, choose_from
from lab.language.choice import of_environment
from lab.paths import REPORTS
from lab.scenario import reader as scenarios
from lab.scenario.scenario import Scenario
from lab.ui import chinese, live_page, questions
from lab.ui.addresses import VOTE, from_elsewhere, from_here
from lab.ui.event_stream import TooManyListeners, encoded
from lab.ui.ladder_panel import rungs
from lab.ui.live_state import LiveState, UnderWay
from lab.ui.locust_client import LocustClient, NotStarted
from lab.ui.locust_environment import BUSY
from lab.ui.locust_process import UP_WITHIN_S
from lab.ui.predictions import Full
from lab.ui.run_form import scenario_names
from lab.ui.same_origin import LOOPBACK, foreign
from lab.ui.static_server import Site, SiteHandler

LONGEST = 4096  # bytes of what is posted
DRAWN_WITHIN_S = 30.0  # until the pictures of the run before are drawn, a new run waits
SILENT_S = 15.0
LETTERS = 64  # the length of a browser's own number
# a page may load content from this server only, and no page may show it in a frame
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'"
)

PAGES = ("/", "/live", VOTE)  # the lab's own page; at the last address as phones see it


class PostedPrediction(msgspec.Struct):
    """A prediction as a browser posts it."""

    reader: str  # a number that the browser made up
    stage: str
    scenario: str
    choice: int  # the place of the choice, from 0, among the choices of the scenario's question
    name: str = ""  # the visitor's name; may be empty


class PostedSubject(msgspec.Struct):
    """What the class is asked, or what is run."""

    stage: str
    scenario: str


class PostedPlace(msgspec.Struct):
    """A step of the lesson, and which of its runs, from 0."""

    step: int
    run: int = 0


WHAT = {PostedPrediction: "prediction", PostedSubject: "stage under a scenario", PostedPlace: "step of the lesson"}
Posted = TypeVar("Posted", PostedPrediction, PostedSubject, PostedPlace)


class LiveServer(Site):
    """Serves from its own threads until it is closed. password: required if not empty. Raises
    OSError without the port.
    """

    def __init__(
        self, state: LiveState, host: str, port: int, locust_port: int, password: str = "", reports: Path = REPORTS
    ) -> None:
        self.state, self.locust_port, self.password = state, locust_port, password
        self.locust = LocustClient(from_here(host), locust_port, password)
        self.ready = threading.Event()  # whether Locust answers: Start waits for it
        self.ready.set()
        super().__init__(reports, port, host, LiveHandler, () if password else LOOPBACK)
        name = from_elsewhere(host) if engine() == LOCAL else ""  # a container does not know its host's address
        self.for_phones = f"http://{name}:{self.server_port}{VOTE}" if name else ""
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def ways(self) -> dict[str, str]:
        return {"The lab's page": "/"} | super().ways()

    def close(self) -> None:
        """Stop serving."""
        self.shutdown()
        self.server_close()


class LiveHandler(SiteHandler):
    """Answers one connection: the lab's own page at PAGES, its data below /live, and the site of runs at all other addresses."""

    server: LiveServer
    disable_nagle_algorithm = True

    def send_head(self) -> Any:
        if not self._admitted():
            return None
        address = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(address.query).items()}
        match address.path:
            case path if path in PAGES:
                return self._send(self._page(), "text/html; charset=utf-8")
            case "/live/ladder":
                return self._answer(lambda: self._ladder(asked))
            case "/live/replay":
                return self._answer(lambda: self.server.state.frames or {})
            case "/live/news" if self.command == "GET":
                return self._news()
        return super().send_head()

    def do_POST(self) -> None:  # noqa: N802 - the library's name
        """Accept what the page posts; nothing else can be posted."""
        body = self._body()
        if body is None or not self._admitted():
            return
        posts = {
            "prediction": self._predict,
            "subject": self._ask,
            "lesson": self._teach,
            "start": self._start,
            "stop": self._stop,
        }
        post = posts.get(urlsplit(self.path).path.removeprefix("/live/"))
        if post is None:
            self._refuse(HTTPStatus.NOT_FOUND, f"only to /live/… can be posted: {', '.join(posts)}")
            return
        if answer := self._answer(lambda: post(body)):
            self.copyfile(answer, self.wfile)

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length") or ""
        if not length.isdecimal() or int(length) > LONGEST:
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a post needs a Content-Length of at most {LONGEST} bytes")
            return None
        return self.rfile.read(int(length))

    def _admitted(self) -> bool:
        """Refuse pages of other sites, and visitors without the password where there is one."""
        if why := foreign(self.command, dict(self.headers), self.server.names):
            self._refuse(HTTPStatus.FORBIDDEN, why)
            return False
        if self.server.password and not secrets.compare_digest(self._password(), self.server.password.encode()):
            self.send_response(HTTPStatus.UNAUTHORIZED)
            self.send_header("WWW-Authenticate", 'Basic realm="the lock lab: any name, and the password that the lab printed"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return False
        return True

    def _password(self) -> bytes:
        kind, _, credentials = (self.headers.get("Authorization") or "").partition(" ")
        with contextlib.suppress(ValueError):
            if kind == "Basic":
                return base64.b64decode(credentials, validate=True).partition(b":")[2]
        return b""

    def _page(self) -> bytes:
        server = self.server
        shown = (server.state.asked, server.for_phones, server.password, server.locust_port, server.ways())
        return live_page.text(*shown, of_environment(os.environ)).encode()

    def _ladder(self, asked: dict[str, str]) -> dict[str, Any]:
        scenario = scenarios.load(choose_from("scenario", asked.get("scenario", ""), scenario_names()))
        stage = choose_from("stage", asked.get("stage", ""), stages())
        reader, predictions = asked.get("reader", "")[:LETTERS], self.server.state.predictions
        everything = "all" in asked
        shown = rungs(scenario.name, lambda name: everything or predictions.may_see(reader, (name, scenario.name)))
        return {
            "rungs": shown,
            "chinese": chinese.of_rungs(shown),
            "mine": predictions.of(reader, (stage, scenario.name)),
            "votes": predictions.votes((stage, scenario.name), len(questions.of(scenario.tests.name).choices)),
        }

    def _predict(self, body: bytes) -> dict[str, Any]:
        posted = _read(body, PostedPrediction)
        if not 0 < len(posted.reader) <= LETTERS:
            raise BadInput(f"reader: must have 1 to {LETTERS} characters")
        stage, scenario = _subject(posted)
        choices = questions.of(scenario.tests.name).choices
        if not 0 <= posted.choice < len(choices):
            offered = ", ".join(f"{place}: {text}" for place, text in enumerate(choices))
            raise BadInput(f"choice: there is no choice {posted.choice} for {scenario.name}; its choices are {offered}")
        self.server.state.predict(posted.reader, posted.name, stage, scenario, posted.choice)
        return self._ladder({"reader": posted.reader, "stage": posted.stage, "scenario": posted.scenario})

    def _ask(self, body: bytes) -> dict[str, Any]:
        stage, scenario = _subject(_read(body, PostedSubject))
        self.server.state.ask(stage, scenario.name)
        return {}

    def _teach(self, body: bytes) -> dict[str, Any]:
        posted = _read(body, PostedPlace)
        self.server.state.teach(posted.step, posted.run)
        return {}

    def _start(self, body: bytes) -> dict[str, Any]:
        stage, scenario = _subject(_read(body, PostedSubject))
        taught = self.server.state.taught
        form = taught.form if taught is not None and (taught.stage, taught.scenario.name) == (stage, scenario.name) else {}
        self.server.ready.wait(UP_WITHIN_S)
        until_s = time.monotonic() + DRAWN_WITHIN_S
        while True:
            try:
                self.server.locust.start(stage, scenario.name, form)
                return {}
            except NotStarted as reason:
                if str(reason) != BUSY or self.server.state.under_way or time.monotonic() > until_s:
                    raise
            time.sleep(0.1)  # the pictures of the run before are being drawn

    def _stop(self, body: bytes) -> dict[str, Any]:
        self.server.locust.stop()
        return {}

    def _answer(self, what: Any) -> BytesIO | None:
        try:
            return self._send(msgspec.json.encode(what()), "application/json")
        except (BadInput, Full, NotStarted, UnderWay) as reason:
            return self._send(msgspec.json.encode({"refused": str(reason)}), "application/json", HTTPStatus.BAD_REQUEST)

    def _send(self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> BytesIO:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        return BytesIO(content)

    def _news(self) -> None:
        """Send events until the browser disconnects or the server ends."""
        self.close_connection = True
        try:
            with self.server.state.followed() as (now, news):
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Cache-Control", "no-store")
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(encoded(now))
                while True:
                    try:
                        message = news.get(timeout=SILENT_S)
                    except queue.Empty:
                        message = b": still here\n\n"
                    if message is None:
                        return
                    self.wfile.write(message)
        except TooManyListeners as reason:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE, str(reason))
        except (OSError, ValueError):
            return  # the browser has disconnected


def _read(body: bytes, kind: type[Posted]) -> Posted:
    try:
        return msgspec.json.decode(body, type=kind)
    except msgspec.DecodeError as error:
        raise BadInput(f"this is no {WHAT[kind]}: {error}") from None


def _subject(posted: PostedPrediction | PostedSubject) -> tuple[str, Scenario]:
    """Return the stage and the scenario. Raises BadInput, which names the choices."""
    stage = choose_from("stage", posted.stage, stages())
    return stage, scenarios.load(choose_from("scenario", posted.scenario, scenario_names()))
