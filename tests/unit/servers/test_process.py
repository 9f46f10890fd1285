"""Test when a replica counts as ready, and when a server counts as lost."""

import http.server
import json
import threading
from collections.abc import Iterator

import pytest

from lab.servers.process import Running
from lab.servers.programs.gunicorn import Gunicorn
from lab.servers.programs.redis import RedisServer


@pytest.fixture
def answering_as() -> Iterator[dict[str, str]]:
    """Yield the answer of ``/health`` on its ``port``; the test fills it in."""
    about: dict[str, str] = {}

    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(about).encode())

        def log_message(self, *_about: object) -> None:
            """Print nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Health) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        about["port"] = str(server.server_port)
        yield about
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("run", "replica", "ready"), [("r", "replica-1", True), ("r", "replica-2", False), ("another", "replica-1", False)]
)
def test_replica_is_ready(answering_as, run, replica, ready):
    """A replica is ready only if the answer has its own run and its own name."""
    answering_as |= {"run": run, "replica": replica}

    assert Gunicorn("replica-1", {"run": "r"}).ready(int(answering_as["port"]), pid=0) is ready


class FakeSupervisor:
    """A supervisor that calls a function at each question for a process. The process runs until an exit is known."""

    def __init__(self, *meanwhile):
        self.meanwhile = list(meanwhile)
        self.exit: int | None = None

    def exit_of(self, pid):
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return self.exit


def test_killing_is_no_accident(tmp_path):
    """A server that is killed on purpose, or started again, during the question counts as alive."""
    supervisor = FakeSupervisor()
    server = Running(RedisServer("r"), 1, 1, tmp_path / "log", supervisor)

    def kill():
        server.killed, supervisor.exit = True, -9

    def start_again():
        server.killed, supervisor.exit = False, None

    supervisor.meanwhile = [kill]
    assert server.alive()
    supervisor.meanwhile = [start_again]
    assert server.alive()
    supervisor.exit = 1
    assert not server.alive()
