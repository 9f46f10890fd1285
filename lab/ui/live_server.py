"""The live page, the news that it shows, and the runs' own pages, at one address beside Locust's page."""

from __future__ import annotations

import base64
import contextlib
import queue
import secrets
import threading
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from app.locks import stages
from lab.errors import BadInput, choose_from
from lab.paths import REPORTS
from lab.report.html import page
from lab.scenario import scenario as scenarios
from lab.ui.event_stream import TooManyListeners, encoded
from lab.ui.ladder_panel import rungs
from lab.ui.live_state import LiveState
from lab.ui.predictions import Full
from lab.ui.run_form import scenario_names
from lab.ui.same_origin import LOOPBACK, foreign
from lab.ui.static_server import Reader, Site

LONGEST = 4096  # bytes of a prediction
SILENT_S = 15.0
LETTERS = 64  # of a browser's own number
# what a page may load: itself, and nothing of anybody else; and nobody may frame it
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'"
)

TEMPLATES = Path(__file__).with_name("templates")


class Said(msgspec.Struct):
    """A prediction as it is posted. reader: a number that the browser made up."""

    reader: str
    stage: str
    scenario: str
    loses: bool
    name: str = ""


class LiveServer(Site):
    """Serves from its own threads until it is closed. password: asked for if not empty. Raises OSError without the port."""

    def __init__(
        self, state: LiveState, host: str, port: int, locust_port: int, password: str = "", reports: Path = REPORTS
    ) -> None:
        self.state, self.locust_port, self.password = state, locust_port, password
        super().__init__(reports, port, host, LiveReader, () if password else LOOPBACK)
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        """Serve no more."""
        self.shutdown()
        self.server_close()


class LiveReader(Reader):
    """One connection: the live page at /live, what it asks for below it, and the site of runs everywhere else."""

    server: LiveServer
    disable_nagle_algorithm = True

    def send_head(self) -> Any:
        if not self._admitted():
            return None
        address = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(address.query).items()}
        match address.path:
            case "/live":
                return self._say(self._page(), "text/html; charset=utf-8")
            case "/live/ladder":
                return self._answer(lambda: self._ladder(asked))
            case "/live/news" if self.command == "GET":
                return self._news()
            case "/" if self.server.file("/") is None:
                return self._to("live")  # there are no runs yet
        return super().send_head()

    def do_POST(self) -> None:  # noqa: N802 - the library's name
        """The only thing to be posted: a prediction."""
        body = self._body()
        if body is None or not self._admitted():
            return
        if urlsplit(self.path).path != "/live/prediction":
            self._refuse(HTTPStatus.NOT_FOUND, "nothing is taken here")
            return
        if answer := self._answer(lambda: self._predict(body)):
            self.copyfile(answer, self.wfile)

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length") or ""
        if not length.isdecimal() or int(length) > LONGEST:
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {LONGEST} bytes, and their number first")
            return None
        return self.rfile.read(int(length))

    def _admitted(self) -> bool:
        """Not another site's page, and one who knows the password where there is one."""
        if why := foreign(self.command, dict(self.headers), self.server.names):
            self._refuse(HTTPStatus.FORBIDDEN, why)
            return False
        if self.server.password and not secrets.compare_digest(self._password(), self.server.password.encode()):
            self.send_response(HTTPStatus.UNAUTHORIZED)
            self.send_header("WWW-Authenticate", 'Basic realm="the lock lab: any name, and the password that it printed"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return False
        return True

    def _password(self) -> bytes:
        kind, _, said = (self.headers.get("Authorization") or "").partition(" ")
        with contextlib.suppress(ValueError):
            if kind == "Basic":
                return base64.b64decode(said, validate=True).partition(b":")[2]
        return b""

    def _page(self) -> bytes:
        offered = {name: scenarios.load(name).title for name in scenario_names()}
        about = {"stages": stages(), "scenarios": offered, "locust_port": self.server.locust_port}
        ideas = {name: stage.story.idea for name, stage in stages().items()}
        text = msgspec.json.encode(ideas).decode().replace("<", "\\u003c")  # </script> would end it, whatever it stands in
        return page("live.html", TEMPLATES, ideas=text, **about).encode()

    def _ladder(self, asked: dict[str, str]) -> dict[str, Any]:
        scenario = choose_from("scenario", asked.get("scenario", ""), scenario_names())
        stage = choose_from("stage", asked.get("stage", ""), stages())
        reader, predictions = asked.get("reader", "")[:LETTERS], self.server.state.predictions
        everything = "all" in asked
        return {
            "rungs": rungs(scenario, lambda name: everything or predictions.may_see(reader, (name, scenario))),
            "mine": predictions.of(reader, (stage, scenario)),
            "asked": predictions.asked((stage, scenario)),
        }

    def _predict(self, body: bytes) -> dict[str, Any]:
        try:
            said = msgspec.json.decode(body, type=Said)
        except msgspec.DecodeError as error:
            raise BadInput(f"this is no prediction: {error}") from None
        if not 0 < len(said.reader) <= LETTERS:
            raise BadInput(f"a reader's number has 1 to {LETTERS} letters")
        question = (choose_from("stage", said.stage, stages()), choose_from("scenario", said.scenario, scenario_names()))
        self.server.state.predictions.predict(said.reader, said.name, question, said.loses)
        return self._ladder({"reader": said.reader, "stage": said.stage, "scenario": said.scenario})

    def _answer(self, what: Any) -> BytesIO | None:
        try:
            return self._say(msgspec.json.encode(what()), "application/json")
        except (BadInput, Full) as reason:
            return self._say(msgspec.json.encode({"refused": str(reason)}), "application/json", HTTPStatus.BAD_REQUEST)

    def _say(self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK) -> BytesIO:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", POLICY)
        self.end_headers()
        return BytesIO(content)

    def _news(self) -> None:
        """Server-sent events, until the browser or the server has enough."""
        self.close_connection = True
        try:
            with self.server.state.news.listening() as news:
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", "text/event-stream")
                self.send_header("Cache-Control", "no-store")
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(encoded(self.server.state.how_things_stand()))
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
            return  # the browser went away
