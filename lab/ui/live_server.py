"""The lab's own page, its events, and the pages of runs, at one address."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Iterable
from http import HTTPStatus
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec

from lab.errors import BadInput
from lab.language import of_environment
from lab.paths import REPORTS
from lab.pipeline import LOCAL, engine
from lab.scenario import reader as scenarios
from lab.ui import live_page, questions
from lab.ui.addresses import JOIN, PROJECTOR, VOTE, from_elsewhere, from_here, joining
from lab.ui.both_sides import BUSY, LOOPBACK, foreign
from lab.ui.event_stream import TooManyListeners, encoded
from lab.ui.joining import NOT_JOINED, TEACHER_ONLY, Admission, Invitation, Keys, Role, as_teacher, cookies_in
from lab.ui.live_state import LiveState, UnderWay
from lab.ui.locust_process import UP_WITHIN_S, LocustClient, NotStarted
from lab.ui.posted import PostedPlace, PostedPrediction, PostedScreen, decoded
from lab.ui.predictions import Full
from lab.ui.static_server import Site, SiteHandler

LONGEST = 4096  # bytes of what is posted
DRAWN_WITHIN_S = 30.0  # until the pictures of the run before are drawn, a new run waits
SILENT_S = 15.0
# a page may load content from this server only, and no page may show it in a frame
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "frame-ancestors 'none'"
)

HTML = "text/html; charset=utf-8"
PAGES = {"/": Role.TEACHER, "/live": Role.TEACHER, VOTE: Role.VOTER, PROJECTOR: Role.ONLOOKER}  # each view, and who may see it


class LiveServer(Site):
    """Serves from its own threads until it is closed. Raises OSError without the port.

    teacher: the teacher's key; empty where nobody needs one. names: whether visitors are asked for their names.
    """

    def __init__(
        self,
        state: LiveState,
        host: str,
        port: int,
        locust_port: int,
        teacher: str = "",
        reports: Path = REPORTS,
        names: bool = False,
    ) -> None:
        self.state, self.locust_port, self.asks_names = state, locust_port, names
        self.ready = threading.Event()  # whether Locust answers: Start waits for it
        self.ready.set()
        super().__init__(reports, port, host, LiveHandler, () if teacher else LOOPBACK)
        self.keys = Keys(self.server_port, teacher)
        self.locust = LocustClient(from_here(host), locust_port, as_teacher(self.server_port, teacher))
        name = from_elsewhere(host) if teacher and engine() == LOCAL else ""  # a container does not know its host's address
        address = f"{name}:{self.server_port}"
        code = f"http://{address}{VOTE}?k={self.keys.vote}"
        self.invitation = Invitation(address, code, self.keys.word) if name else Invitation()
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def ways(self) -> dict[str, str]:
        return {"lab": "/"} | super().ways()

    def close(self) -> None:
        """Stop serving."""
        self.shutdown()
        self.server_close()


class LiveHandler(SiteHandler):
    """Answers one connection: the lab's own page at PAGES, its data below /live, and the site of runs at all other addresses."""

    server: LiveServer
    disable_nagle_algorithm = True

    def send_head(self) -> Any:
        if not self._from_own_pages():
            return None
        address = urlsplit(self.path)
        asked = {name: values[-1] for name, values in parse_qs(address.query).items()}
        if address.path in PAGES:
            return self._enter(address.path, asked["k"]) if "k" in asked else self._page(address.path)
        if address.path == JOIN:
            return self._join_page(Admission.OPEN)
        return self._forbid(NOT_JOINED) if self._role() is Role.STRANGER else self._content(address.path)

    def _content(self, path: str) -> Any:
        match path:
            case "/live/mine":
                return self._answer(self._mine)
            case "/live/lost.svg":
                return self._send(self.server.state.lost.encode(), "image/svg+xml")
            case "/live/news" if self.command == "GET":
                return self._news()
        return super().send_head()

    def do_POST(self) -> None:  # noqa: N802 - the library's name
        """Accept what the pages post; nothing else can be posted."""
        body = self._body()
        if body is not None and self._from_own_pages() and (answer := self._posted(urlsplit(self.path).path, body)):
            self.copyfile(answer, self.wfile)

    def _posted(self, path: str, body: bytes) -> BytesIO | None:
        if path == JOIN:
            return self._join(body)
        posts = {
            "prediction": self._predict,
            "lesson": self._teach,
            "screen": self._show,
            "start": self._start,
            "stop": self._stop,
        }
        post = posts.get(path.removeprefix("/live/"))
        if post is None:
            self._refuse(HTTPStatus.NOT_FOUND, f"only to /live/… can be posted: {', '.join(posts)}")
            return None
        if post == self._predict:
            return self._answer(lambda: post(body)) if self._device() else self._forbid(NOT_JOINED)
        return self._answer(lambda: post(body)) if self._role() is Role.TEACHER else self._forbid(TEACHER_ONLY)

    def _body(self) -> bytes | None:
        length = self.headers.get("Content-Length") or ""
        if not length.isdecimal() or int(length) > LONGEST:
            self.close_connection = True
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a post needs a Content-Length of at most {LONGEST} bytes")
            return None
        return self.rfile.read(int(length))

    def _from_own_pages(self) -> bool:
        """Refuse what pages of other sites make a browser send."""
        if why := foreign(self.command, dict(self.headers), self.server.names):
            self._refuse(HTTPStatus.FORBIDDEN, why)
        return not why

    # who visits
    def _cookies(self) -> dict[str, str]:
        return cookies_in(self.headers.get("Cookie") or "")

    def _role(self) -> Role:
        here = self.connection.getsockname()[0]  # a program on this machine comes from the address that it goes to
        own_name = urlsplit(f"//{self.headers.get('Host')}").hostname in (here, *LOOPBACK)
        return self.server.keys.role(self._cookies(), own_name and self.client_address[0] == here)

    def _device(self) -> str:
        return self.server.keys.device(self._cookies())

    def _enter(self, path: str, key: str) -> BytesIO | None:
        """Answer an address with a key: a cookie stands for it from now on, and the address loses it."""
        cookies = self.server.keys.enter(key, self._cookies())
        return self._join_page(Admission.UNKNOWN) if cookies is None else self._redirect(path, cookies)

    def _join(self, body: bytes) -> BytesIO | None:
        """Answer a visitor who typed a word."""
        word = parse_qs(body.decode(errors="replace")).get("word", [""])[0]
        entry = self.server.keys.typed(word, self.client_address[0])
        return (
            self._redirect(self._wanted(), self.server.keys.new_device(self._cookies()))
            if entry is Admission.OPEN
            else self._join_page(entry)
        )

    def _join_page(self, entry: Admission) -> BytesIO:
        text = live_page.join_text(entry, of_environment(os.environ), joining(self._wanted()))
        return self._send(text.encode(), HTML, HTTPStatus.OK if entry is Admission.OPEN else HTTPStatus.FORBIDDEN)

    def _wanted(self) -> str:
        """Return which page a visitor of the page of the word goes on to: the projector's, if it came from there."""
        return PROJECTOR if parse_qs(urlsplit(self.path).query).get("then") == [PROJECTOR] else VOTE

    def _page(self, path: str) -> BytesIO:
        server, role = self.server, self._role()
        if role < PAGES[path]:
            return self._redirect(VOTE if role is Role.VOTER else joining(path))
        shown = (server.invitation, server.locust_port, server.ways(), of_environment(os.environ))
        cookies = [] if role is Role.ONLOOKER else server.keys.new_device(self._cookies())
        return self._send(live_page.text(*shown, server.asks_names, role is Role.TEACHER).encode(), HTML, cookies=cookies)

    def _mine(self) -> dict[str, Any]:
        """Return the visitor's own predictions of what the class is asked, and how many visitors have predicted it."""
        asked, predictions = self.server.state.asked, self.server.state.predictions
        return {"mine": predictions.of(self._device(), asked), "voted": predictions.voted(asked)}

    def _predict(self, body: bytes) -> dict[str, Any]:
        posted, state = decoded(body, PostedPrediction), self.server.state
        if (posted.stage, posted.scenario) != state.asked:
            raise BadInput(f"the class is asked about {' under '.join(state.asked)}, not {posted.stage} under {posted.scenario}")
        scenario = scenarios.load(posted.scenario)
        choices = questions.QUESTIONS[scenario.tests.name].choices
        if not 0 <= posted.choice < len(choices):
            offered = ", ".join(f"{place}: {text}" for place, text in enumerate(choices))
            raise BadInput(f"choice: there is no choice {posted.choice} for {scenario.name}; its choices are {offered}")
        state.predict(self._device(), posted.name if self.server.asks_names else "", posted.stage, scenario, posted.choice)
        return self._mine()

    def _teach(self, body: bytes) -> dict[str, Any]:
        posted = decoded(body, PostedPlace)
        self.server.state.teach(posted.step, posted.run)
        return {}

    def _show(self, body: bytes) -> dict[str, Any]:
        posted = decoded(body, PostedScreen)
        self.server.state.show(posted.screen, posted.step)
        return {}

    def _start(self, body: bytes) -> dict[str, Any]:
        """Start the run that the class is at."""
        if (taught := self.server.state.taught) is None:
            raise BadInput("the class is at no run of the lesson; all other runs are started in Locust's page")
        self.server.ready.wait(UP_WITHIN_S)
        until_s = time.monotonic() + DRAWN_WITHIN_S
        while True:
            try:
                self.server.locust.start(taught.stage, taught.scenario.name, taught.form)
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

    def _forbid(self, why: str) -> BytesIO | None:
        if not self.path.startswith("/live/"):
            self._refuse(HTTPStatus.FORBIDDEN, why)
            return None
        return self._send(msgspec.json.encode({"refused": why}), "application/json", HTTPStatus.FORBIDDEN)

    def _redirect(self, path: str, cookies: Iterable[str] = ()) -> BytesIO:
        return self._send(b"", HTML, HTTPStatus.SEE_OTHER, cookies, path)

    def _send(
        self, content: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK, cookies: Iterable[str] = (), location: str = ""
    ) -> BytesIO:
        self.send_response(status)
        for name, value in [*(("Set-Cookie", one) for one in cookies), *([("Location", location)] if location else [])]:
            self.send_header(name, value)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Referrer-Policy", "same-origin")  # no other server gets an address of this one
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
