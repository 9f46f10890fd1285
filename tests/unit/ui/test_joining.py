"""Test the rights in a class without a browser: of the teacher's key, a phone's scan and a typed word; and all refusals."""

import hmac
import http.client
import re
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from http.cookies import SimpleCookie
from threading import Barrier
from typing import NamedTuple

import msgspec
import pytest

from lab.errors import BadInput
from lab.ui import addresses, joining, predictions
from lab.ui.both_sides import SENT_KEY, Refusal
from lab.ui.joining import FREE, MOST_WRONG, PAUSE_S, Admission, Keys
from lab.ui.live_page import refused
from lab.ui.live_server import LiveServer
from lab.ui.live_state import LiveState
from lab.ui.static_server import Connection
from tests.every import every

HERE, TEACHER = "127.0.0.1", "the-teacher"
PHONE = "192.0.2.7:8090"  # how a phone names the lab; a program on the teacher's machine names loopback
LEADING = "start", "stop", "lesson", "screen"  # the posts that only the teacher may send
VOTE = {"stage": "none", "scenario": "rush", "choice": 1}


class Answer(NamedTuple):
    """An answer of the server."""

    status: int
    text: str
    headers: http.client.HTTPMessage

    @property
    def cookies(self) -> dict[str, str]:
        return {name: one.value for line in self.headers.get_all("Set-Cookie", []) for name, one in SimpleCookie(line).items()}


class Visitor:
    """A browser that keeps its cookies. headers: are sent with each request."""

    def __init__(self, server: LiveServer, **headers: str) -> None:
        self.server, self.headers = server, {"Host": PHONE} | headers
        self.comes_from = HERE
        self.cookies: dict[str, str] = {}

    @property
    def cookie(self) -> str:
        return "; ".join(f"{name}={value}" for name, value in self.cookies.items())

    def ask(self, method: str, path: str, content: object = None) -> Answer:
        body = content.encode() if isinstance(content, str) else msgspec.json.encode(content) if content else b""
        with closing(http.client.HTTPConnection(HERE, self.server.port, 60, (self.comes_from, 0))) as line:
            is_form = path.startswith("/join")
            kind = {"Content-Type": "application/x-www-form-urlencoded" if is_form else "application/json"}
            line.request(method, path, body, kind | {"Cookie": self.cookie} | self.headers)
            got = line.getresponse()
            answer = Answer(got.status, got.read().decode(), got.headers)
        self.cookies |= {name: value for name, value in answer.cookies.items() if name.startswith("lab_")}
        return answer

    def post(self, what: str, content: object = None) -> Answer:
        return self.ask("POST", f"/live/{what}", content or {"step": 3})

    def scan(self) -> Answer:
        return self.ask("GET", f"/vote?k={self.server.keys.vote}")


@pytest.fixture
def server(tmp_path) -> Iterator[LiveServer]:
    """Yield the page of a class, with keys."""
    state = LiveState()
    with closing(LiveServer(state, HERE, 0, addresses.free_port(), TEACHER, tmp_path)) as one:
        yield one
        state.close()


def test_one_scan_joins(server):
    """The address of the QR code leaves a cookie and loses its key; another scan makes no second voter."""
    phone = Visitor(server)
    first = phone.scan()
    number = dict(phone.cookies)
    again = phone.scan()

    assert (first.status, first.headers["Location"]) == (303, "/vote")
    assert (first.headers["Referrer-Policy"], first.headers["Cache-Control"]) == ("same-origin", "no-store")
    assert first.headers["Set-Cookie"].endswith("; HttpOnly; Path=/; SameSite=Lax")
    assert (again.headers["Location"], again.headers["Set-Cookie"], phone.cookies) == ("/vote", None, number)
    page = phone.ask("GET", "/vote")
    assert page.status == 200
    assert server.keys.vote not in page.text
    assert "They say" not in page.text  # the notes of the lesson have the answers
    assert phone.post("prediction", VOTE).status == 200


def test_voting_key_only_votes(server):
    """A phone can neither start, stop nor choose a step: it is refused, and the teacher's page sends it to the phones' page."""
    phone = Visitor(server)
    phone.scan()

    for what in LEADING:
        answer = phone.post(what)
        assert (answer.status, msgspec.json.decode(answer.text)) == (403, refused(Refusal.TEACHER_ONLY))
    assert server.state.place == (0, 0)
    assert [phone.ask("GET", path).headers["Location"] for path in ("/", "/live")] == ["/vote", "/vote"]


def test_teacher_key_opens_everything(server):
    """The printed address leaves the teacher's cookie, whose name has the port of the lab, and this cookie opens everything."""
    teacher = Visitor(server)
    first = teacher.ask("GET", f"/?k={TEACHER}")

    assert (first.status, first.headers["Location"]) == (303, "/")
    assert teacher.cookies[f"lab_teacher_{server.port}"] == TEACHER
    assert "They say" in teacher.ask("GET", "/").text
    assert teacher.post("prediction", VOTE).status == 200
    assert teacher.post("lesson").status == 200
    assert server.state.place == (3, 0)


@every("path, after", {"/": "/vote", "/vote": "/vote", "/projector": "/projector"}.items())
def test_stranger_is_asked_for_the_word(path, after):
    """The word leads to the requested page, or from the teacher's page to the page for phones, also after a wrong word."""
    with closing(LiveServer(LiveState(), HERE, 0, 8089, TEACHER)) as server:
        stranger = Visitor(server)
        answer = stranger.ask("GET", path)
        wrong = stranger.ask("POST", answer.headers["Location"], "word=no+word")
        (form,) = re.findall(r'<form method="post" action="([^"]+)"', wrong.text)
        right = stranger.ask("POST", form, f"word={server.keys.word}")
        server.state.close()

    assert (answer.status, answer.headers["Location"].partition("?")[0], answer.cookies) == (303, "/join", {})
    assert (right.status, right.headers["Location"]) == (303, after)


def test_stranger_gets_nothing_else(server):
    """A stranger's requests for data and runs, and posts, are refused in words, and never by Basic authentication."""
    stranger = Visitor(server)
    answers = [stranger.ask("GET", path) for path in ("/live/news", "/live/mine", "/index.html")]
    answers += [stranger.post("prediction", VOTE), stranger.post("start"), stranger.post("stop")]

    assert [answer.status for answer in answers] == [403] * 6
    assert [Refusal.NOT_JOINED in answer.text for answer in answers] == [True] * 4 + [False] * 2
    assert all(Refusal.TEACHER_ONLY in answer.text.replace("&#x27;", "'") for answer in answers[4:])
    assert not [answer for answer in answers if answer.headers["WWW-Authenticate"]]


def test_only_locust_orders_runs(server):
    """Only the key of Locust's process orders a run; neither the teacher's key nor a phone's cookie does."""
    teacher, phone = Visitor(server), Visitor(server)
    teacher.ask("GET", f"/?k={TEACHER}")
    phone.scan()
    orders = server.orders

    for visitor in (teacher, phone, Visitor(server), Visitor(server, **{SENT_KEY: TEACHER}), Visitor(server, **{SENT_KEY: ""})):
        for what in ("shelf", "check", "run", "ended"):
            assert visitor.ask("POST", f"/orders/{what}", {"form": {}}).status == 403
    assert orders.runs.empty()
    assert "stages" in Visitor(server, **{SENT_KEY: orders.key}).ask("POST", "/orders/shelf", "{}").text
    foreign = Visitor(server, Origin="http://evil.example", **{SENT_KEY: orders.key})
    assert foreign.ask("POST", "/orders/shelf", {"form": {}}).status == 403


def test_unknown_key_is_refused_in_words(server):
    """A key of another class, and cookies that this server did not make, open nothing."""
    stranger = Visitor(server)
    for path in ("/vote?k=old", "/?k=old", "/?k=", f"/live?k={TEACHER}x", "/vote?k=%ff%ed%a0%80"):
        answer = stranger.ask("GET", path)
        wanted = 303 if path == "/?k=" else 403  # an empty key is no key
        assert (answer.status, answer.cookies) == (wanted, {}), path
        assert wanted == 303 or "This address belongs to an earlier class." in answer.text
    port = server.port
    forged = ("abc", "abc.", ".", "abc.0123", f"abc.{'0' * 64}", "\xe9.\xe9")
    for cookies in [{f"lab_teacher_{port}": "x"}, {f"lab_teacher_{port}": ""}, *({f"lab_device_{port}": one} for one in forged)]:
        stranger.cookies = cookies
        assert stranger.post("prediction", VOTE).status == 403, cookies


def test_secrets_are_compared_in_constant_time(server, monkeypatch):
    """Each key, word and signature goes through the comparison whose time does not depend on them."""
    compared = []
    monkeypatch.setattr(hmac, "compare_digest", lambda one, other: compared.append(one) or one == other)
    stranger = Visitor(server)
    stranger.cookies = {f"lab_teacher_{server.port}": "t1", f"lab_device_{server.port}": "number.time.c2ln"}

    stranger.ask("GET", "/vote?k=k1")
    stranger.ask("POST", "/join", "word=w1")
    stranger.post("start")

    assert {b"t1", b"k1", b"w1", b"sig"} <= set(compared)
    assert compared.count(b"k1") == 2  # with the teacher's key, and with the key for voting


def test_this_machine_may_look(server):
    """The browser of the projector needs no key on the teacher's machine: it sees the page without buttons, and may not act."""
    projector = Visitor(server, Host=f"{HERE}:{server.port}")

    assert projector.ask("GET", "/projector").status == 200
    assert projector.ask("GET", "/live/mine").status == 200
    assert projector.ask("GET", "/").headers["Location"] == "/join"
    assert '"teacher":false' in projector.ask("GET", "/projector").text
    assert [projector.post(what).status for what in LEADING] == [403] * len(LEADING)
    assert projector.post("prediction", VOTE).status == 403
    rebound = Visitor(server, Host="evil.example")  # another site's name that leads to this machine
    assert rebound.ask("GET", "/projector").headers["Location"].startswith("/join")
    projector.comes_from = "127.0.0.2"  # from another address, whatever name it gives this machine
    assert projector.ask("GET", "/projector").headers["Location"].startswith("/join")


def test_other_site_cannot_use_the_cookies(server):
    """A page of another site can post nothing with the teacher's cookie, and cannot make a phone join."""
    teacher = Visitor(server, Origin="http://evil.example")
    teacher.cookies = {f"lab_teacher_{server.port}": TEACHER}

    assert [teacher.post(what).status for what in (*LEADING, "prediction")] == [403] * 5
    assert teacher.ask("POST", "/join", f"word={server.keys.word}").status == 403
    assert server.state.place == (0, 0)


def test_word_joins_by_hand(server):
    """The word and its digit open the page, however they are typed; a wrong word is answered in words."""
    phone = Visitor(server)
    word, digit = server.keys.word.split()

    wrong = phone.ask("POST", "/join", "word=no+such+word")
    right = phone.ask("POST", "/join", f"word=+{word.upper()}-{digit}")

    assert (wrong.status, wrong.cookies) == (403, {})
    assert "That is not the word." in wrong.text
    assert (right.status, right.headers["Location"]) == (303, "/vote")
    assert phone.ask("GET", "/vote").status == 200
    assert phone.ask("GET", "/join").text.count("<input") == 1


def test_wrong_words_are_slowed_down():
    """After some wrong words an address must wait, and others need not; after too many wrong words, no word opens the page."""
    now = [0.0]
    keys = Keys(TEACHER, lambda: now[0])

    assert [keys.typed("x", "a") for _ in range(FREE)] == [Admission.WRONG] * FREE
    assert [keys.typed(word, "a") for word in ("x", keys.word)] == [Admission.TOO_SOON] * 2
    assert keys.typed(keys.word, "b") is Admission.OPEN
    now[0] = PAUSE_S
    assert [keys.typed("x", "a"), keys.typed("x", "a")] == [Admission.WRONG, Admission.TOO_SOON]
    for number in range(MOST_WRONG - FREE - 1):
        assert keys.typed("x", f"address {number}") is Admission.WRONG
    assert keys.typed(keys.word, "b") is Admission.CLOSED
    assert MOST_WRONG / (len(set(joining.WORDS)) * len(joining.DIGITS)) < 0.1


def test_one_vote_a_device(server, monkeypatch):
    """A device votes once, whatever it posts; and the number of voters is limited."""
    phone = Visitor(server)
    phone.scan()
    for number in range(20):
        phone.post("prediction", VOTE | {"reader": str(number)})
    assert server.state.predictions.voted(("none", "rush")) == 1

    monkeypatch.setattr(predictions, "VOTERS", 2)
    others = [Visitor(server) for _ in range(2)]
    assert [other.scan().status for other in others] == [303, 303]
    answers = [other.post("prediction", VOTE) for other in others]
    assert [answer.status for answer in answers] == [200, 400]
    assert msgspec.json.decode(answers[1].text) == refused(Refusal.FULL)
    assert phone.post("prediction", VOTE | {"choice": 0}).status == 200  # a device may change its vote


@every(
    "wrong, words",
    [
        ({"stage": "lua"}, "the class is asked about none under rush"),
        ({"choice": 2}, "no choice 2 for rush; its choices are 0: no increment is lost, 1: increments are lost"),
        ({"choice": -1}, "there is no choice -1"),
        ({"choice": True}, "Expected `int`, got `bool`"),
        ({"stage": None}, "missing required field `stage`"),
    ],
)
def test_bad_prediction_is_refused(server, wrong, words):
    """A wrong prediction is refused, and the answer has the reason."""
    phone = Visitor(server)
    phone.scan()
    answer = phone.post("prediction", {name: value for name, value in (VOTE | wrong).items() if value is not None})

    assert (answer.status, words in answer.text) == (400, True), answer.text
    assert server.state.predictions.voted(("none", "rush")) == 0
    assert phone.ask("POST", "/live", VOTE).status == 405


def test_no_keys_on_this_machine_alone(tmp_path):
    """Without a network every visitor is the teacher; a vote still needs the cookie of the page."""
    with closing(LiveServer(LiveState(), HERE, 0, addresses.free_port(), reports=tmp_path)) as server:
        reader = Visitor(server, Host=f"{HERE}:{server.port}")
        before = reader.post("prediction", VOTE).status
        opened = reader.ask("GET", "/?k=of-an-earlier-lab")
        after = [reader.post("prediction", VOTE).status, reader.post("lesson").status, reader.ask("GET", "/").status]
        phone = Visitor(server).ask("GET", "/vote")
        server.state.close()

    assert (before, opened.headers["Location"], after, phone.status) == (403, "/", [200, 200, 200], 403)
    assert server.invitation == ("", "", "")


def test_two_pages_never_share_a_port():
    """If the usual ports of both pages are taken, the pages of a second lab get two different ports."""
    with ExitStack() as open_:
        taken = []
        for port in (addresses.LOCUST_PORT, addresses.PAGE_PORT):
            with suppress(OSError):  # another program has this port: then it is taken as well
                taken.append(open_.enter_context(socket.create_server((HERE, port))).getsockname()[1])

        page, locust = addresses.ports(HERE, None, None)

        assert page != locust
        assert not {page, locust} & set(taken)


def test_wanted_port_is_not_replaced():
    """A port that the user has chosen and that is taken is refused, with the option for another port."""
    with socket.create_server((HERE, 0)) as one:
        port = one.getsockname()[1]
        for pair, option in (((port, 0), "--port"), ((0, port), "--locust-port")):
            with pytest.raises(BadInput, match=f"port {port} of {HERE} is not available: .*; choose another with {option}"):
                addresses.ports(HERE, *pair)
    with pytest.raises(BadInput, match=f"port {port} of {HERE} is not available"):
        addresses.ports(HERE, port, port)
    assert addresses.ports(HERE, port, 0)[0] == port


SIXTY = 60  # phones of a class


def test_class_of_sixty(server):
    """Sixty phones join, listen and vote at once, beside as many clients that never end their request.

    All hear of the teacher's next step and, within 20 seconds, of the end.
    """
    teacher, heard = Visitor(server), Barrier(SIXTY + 1, timeout=60)
    teacher.ask("GET", f"/?k={TEACHER}")

    def phone(_: int) -> float:
        """Return when the phone heard of the end, in seconds."""
        one = Visitor(server)
        one.scan()
        with closing(http.client.HTTPConnection(HERE, server.port, timeout=60)) as line:
            line.request("GET", "/live/news", headers={"Host": PHONE, "Cookie": one.cookie})
            news = line.getresponse()
            assert b'"kind":"hello"' in news.readline()
            assert one.post("prediction", VOTE).status == 200
            heard.wait()
            assert any(b'"step":3' in message for message in news)
            heard.wait()
            assert b'"step":4' not in news.read()
            return time.monotonic()

    with ExitStack() as held, ThreadPoolExecutor(SIXTY) as phones:
        for _ in range(SIXTY):
            held.enter_context(socket.create_connection((HERE, server.port))).sendall(b"POST /join HTTP/1.1\r\nContent-Le")
        ends = [phones.submit(phone, number) for number in range(SIXTY)]
        heard.wait()
        assert server.state.predictions.voted(("none", "rush")) == SIXTY
        teacher.post("lesson")
        heard.wait()
        began = time.monotonic()
        server.state.close()
        server.close()

        assert max(end.result() for end in ends) - began < 20.0


def test_slow_or_long_posts_are_cut_off(server, monkeypatch):
    """A client that stops in the middle of its request is disconnected, and a post that is too long is refused unread."""
    assert 0 < Connection.timeout <= 60
    monkeypatch.setattr(Connection, "timeout", 0.2)
    for begun in (b"", b"POST /join HTTP/1.1\r\nContent-Le", b"POST /join HTTP/1.1\r\nContent-Length: 9\r\n\r\nword"):
        with socket.create_connection((HERE, server.port), timeout=10) as slow:
            slow.sendall(begun)
            assert slow.makefile("rb").read().partition(b"\r\n")[0] in (b"", b"HTTP/1.1 400 BAD REQUEST")
    stranger = Visitor(server)
    for path in ("/join", "/live/prediction", "/orders/run"):
        assert stranger.ask("POST", path, "word=" + "x" * 5000).status == 413
