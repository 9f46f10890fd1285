"""The locustfile without the lab: any Locust can run it, against any server that answers POST /increment."""

from __future__ import annotations

import contextlib
import http.client
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from lab.paths import HOME
from tests.command import wait_for
from tests.locust_page import Page

RUSH = HOME / "locustfiles" / "rush.py"


class Counting(BaseHTTPRequestHandler):
    """A server that answers POST /increment, and counts the requests."""

    protocol_version = "HTTP/1.1"
    posted = 0
    mutex = threading.Lock()

    def do_POST(self) -> None:
        with self.mutex:
            type(self).posted += 1
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as the base class has it
        """Print nothing."""


@pytest.fixture
def counting() -> Iterator[str]:
    """Yield the address of a server that is not part of the lab."""
    Counting.posted = 0
    with ThreadingHTTPServer(("127.0.0.1", 0), Counting) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def locust(*words: str) -> list[str]:
    return [sys.executable, "-m", "locust", "-f", str(RUSH), "--users", "20", "--spawn-rate", "20", *words]


@pytest.mark.parametrize("rate", ["0", "200"])
def test_locustfile_sends_the_number_asked(counting, rate, tmp_path):
    """The locustfile alone sends exactly the given number of requests."""
    words = locust("--headless", "--host", counting, "--requests", "101", "--rate", rate)

    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=180, check=False)

    assert done.returncode == 0, done.stderr
    assert Counting.posted == 101


def test_locustfile_alone_has_a_plain_page(counting, tmp_path):
    """The locustfile alone has a page without the lab's fields, and stops by itself, run after run."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = locust("--web-host", "127.0.0.1", "--web-port", str(port), "--host", counting)
    page = Page(f"http://127.0.0.1:{port}")
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_for(lambda: answers(page))
            assert page.options().keys() == {"requests", "rate", "think_ms"}
            for number, requests in enumerate((101, 57)):
                form = {"user_count": "20", "spawn_rate": "20", "requests": str(requests), "rate": "0.0", "host": counting}
                assert page.post("/swarm", form)["success"]
                wait_for(lambda: page.stats()["state"] == "stopped" and page.stats()["stats"][-1]["num_requests"] == requests)  # noqa: B023
                assert Counting.posted == (101, 158)[number]
        finally:
            process.kill()


def answers(page: Page) -> bool:
    with contextlib.suppress(urllib.error.URLError, http.client.HTTPException, ConnectionError):
        return bool(page.stats())
    return False
