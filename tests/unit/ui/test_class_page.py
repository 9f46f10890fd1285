"""Test the page of the class without a browser: addresses, predictions, texts, and Start by Locust's own form."""

import http.client
import http.server
import threading
from collections.abc import Iterator
from contextlib import closing
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import pytest

from app.locks import stages
from lab.language import Language
from lab.scenario import reader as scenarios
from lab.story import say
from lab.ui import addresses, live_page
from lab.ui.both_sides import Refusal
from lab.ui.joining import Invitation, as_teacher
from lab.ui.live_server import LiveServer
from lab.ui.live_state import LiveState
from lab.ui.locust_process import LocustClient, NotStarted
from lab.ui.posted import RunRequest
from tests.every import every

HERE = "127.0.0.1"


def request_of(stage: str, scenario: str) -> RunRequest:
    return RunRequest(stages()[stage], scenarios.load(scenario), "")


@pytest.fixture
def state() -> Iterator[LiveState]:
    one = LiveState()
    yield one
    one.close()


def test_address_for_phones():
    """Phones get an address only if other machines can reach the page."""
    assert [addresses.from_elsewhere(host) for host in ("127.0.0.1", "localhost", "192.0.2.7")] == ["", "", "192.0.2.7"]
    assert not addresses.from_elsewhere("0.0.0.0").startswith("127.")


@every("language", Language)
def test_language_without_a_choice(language):
    """The page has the texts of both languages, and opens in the language of the command's environment."""
    text = live_page.text(Invitation(), 8089, {}, language)
    assert f'"language":"{language}"' in text
    assert all(f'"{say.text("class", "start", one)}"' in text for one in Language)


def test_predictions_are_fixed_when_the_run_starts(state, tmp_path):
    """A prediction while servers start is for the next run, and a run without servers leaves all predictions as they were.

    The next run counts each prediction once. Pictures that come late change nothing after the class has a new question.
    """
    rush = scenarios.load("rush")
    state.predict("1", "none", rush, 1)
    state.starting(request_of("none", "rush"))
    state.predict("2", "none", rush, 0)

    assert state.snapshot()["about"]["predicted"] == [0, 1]
    assert state.snapshot()["votes"]["voted"] == 1
    state.refused("no servers")
    assert state.snapshot()["votes"]["voted"] == 2
    state.starting(request_of("none", "rush"))
    state.begin(request_of("none", "rush"), tmp_path, {})
    assert (state.snapshot()["phase"], state.snapshot()["about"]["predicted"]) == ("running", [1, 1])
    state.refused("no servers")
    state.ask("lua", "rush")
    state._show_pictures({"said": {}, "run": "r"})
    assert state.snapshot()["phase"] == "waiting"


class FakeLocust(http.server.BaseHTTPRequestHandler):
    """Locust's page, as far as Start needs it."""

    posts: list[tuple[str, dict[str, str], str]]
    answers: list[dict[str, Any]]

    def do_POST(self) -> None:
        form = dict(parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
        self.posts.append((self.path, form, self.headers.get("Cookie", "")))
        body = msgspec.json.encode(self.answers.pop(0) if self.path == "/swarm" else {})
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def locust() -> Iterator[tuple[int, list[Any], list[Any]]]:
    """Yield the port of a fake Locust, the list of posts to it, and the list of its next answers to Start."""
    handler = type("Handler", (FakeLocust,), {"posts": [], "answers": []})
    with http.server.ThreadingHTTPServer((HERE, 0), handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server.server_port, handler.posts, handler.answers
        server.shutdown()


def test_start_posts_the_form_of_locust(locust):
    """Start posts the fields of Locust's own form, with the scenario's own number of users."""
    port, posts, answers = locust
    answers += [{"success": True}, {"success": False, "message": "the stage none does not have it"}]
    client = LocustClient(HERE, port, as_teacher(8090, "key"))

    client.start("lua", "rush")

    assert posts == [
        ("/swarm", {"stage": "lua", "scenario": "rush", "user_count": "0", "spawn_rate": "100"}, "lab_teacher_8090=key")
    ]
    with pytest.raises(NotStarted, match="the stage none does not have it"):
        client.start("none", "nested")
    with pytest.raises(NotStarted, match="Locust does not answer"):
        LocustClient(HERE, addresses.free_port(), {}).start("lua", "rush")


def test_start_waits_for_pictures(locust, state, tmp_path):
    """While the pictures of a run that is over are still being drawn, Start is tried again.

    While a run is under way, Start is refused at once.
    """
    port, posts, answers = locust
    with closing(LiveServer(state, HERE, 0, port, "", tmp_path)) as server:
        address = f"http://{HERE}:{server.port}/live/start"
        answers += [{"success": False, "message": Refusal.BUSY}, {"success": True}]
        assert "no run of the lesson" in post(address, {})["refused"]
        state.teach(1)
        assert post(address, {}) == {}
        assert [form["requests"] for _, form, _ in posts] == ["2000"] * 2
        answers += [{"success": False, "message": Refusal.BUSY}]
        state.starting(request_of("none", "rush"))
        assert post(address, {}) == post(address.replace("start", "lesson"), {"step": 2}) == live_page.refused(Refusal.BUSY)
        assert post(address.replace("start", "stop"), {}) == {}
        assert posts[-1][0] == "/stop"


def post(address: str, content: object) -> dict[str, Any]:
    connection = http.client.HTTPConnection(*address.split("/")[2].split(":"), timeout=60)
    connection.request("POST", "/" + address.split("/", 3)[3], msgspec.json.encode(content))
    answer = msgspec.json.decode(connection.getresponse().read())
    connection.close()
    return answer
