"""Servers started side by side, each on a port of its own and each known to be itself."""

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
    """What ``/health`` on the fixture's ``port`` says of itself, to be filled in."""
    about: dict[str, str] = {}

    class Health(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(about).encode())

        def log_message(self, *_about: object) -> None:
            """Nothing on the terminal."""

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
    """A replica is ready when it answers itself."""
    answering_as |= {"run": run, "replica": replica}

    assert Gunicorn("replica-1", {"run": "r"}).ready(int(answering_as["port"]), pid=0) is ready


class FakeSupervisor:
    """A supervisor that does something at each question for a process. The process runs as long as no exit is known."""

    def __init__(self, *meanwhile):
        self.meanwhile = list(meanwhile)
        self.exit: int | None = None

    def exit_of(self, pid):
        if self.meanwhile:
            self.meanwhile.pop(0)()
        return self.exit


def test_killing_is_no_accident(tmp_path):
    """A server that is killed on purpose, or started again, while the question is asked, was not lost."""
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
