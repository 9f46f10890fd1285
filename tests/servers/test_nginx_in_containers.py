"""The nginx of the containers, here with its own configuration: the host names that it answers at its published port."""

from __future__ import annotations

import json
import subprocess
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from lab.paths import HOME
from lab.servers.ports import free_port
from tests.command import wait_for


class Replica(BaseHTTPRequestHandler):
    """A replica that answers with the name by which it was asked."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.headers["Host"].encode())

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    replica = HTTPServer(("127.0.0.1", 0), Replica)
    threading.Thread(target=replica.serve_forever, daemon=True).start()
    config = (HOME / "lab/containers/config/nginx.conf").read_text(encoding="utf-8")
    for ours, here in {
        "$replicas app;": "$replicas 127.0.0.1;",
        "$replicas:8000": f"$replicas:{replica.server_port}",
        "listen 8080": f"listen 127.0.0.1:{port}",
        "/tmp/": f"{folder}/",  # noqa: S108 - of the container
        "daemon off;": "daemon off; master_process off;",
        "worker_rlimit_nofile 65536;": "",
    }.items():
        config = config.replace(ours, here)
    (folder / "nginx.conf").write_text(config, encoding="utf-8")
    nginx = subprocess.Popen(["nginx", "-e", "stderr", "-c", str(folder / "nginx.conf")])
    try:
        assert wait_for(lambda: answer(f"127.0.0.1:{port}", "localhost"))
        yield f"127.0.0.1:{port}"
    finally:
        nginx.terminate()
        nginx.wait(10)
        replica.shutdown()
        replica.server_close()


def answer(address: str, host: str) -> tuple[int, str] | None:
    """Return the status and the text of an answer; None if there is no server."""
    try:
        with urllib.request.urlopen(urllib.request.Request(f"http://{address}/", headers={"Host": host}), timeout=5) as got:
            return got.status, got.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError:
        return None


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "LocalHost", "[::1]:8080", "10.0.0.7:8080", "nginx:8080"])
def test_names_of_this_machine_are_answered(address, host):
    """An address, localhost and the name in the containers' network reach a replica."""
    assert answer(address, host) == (200, host.lower().removesuffix(":8080"))


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example"])
def test_other_names_are_refused(address, host):
    """A name of another site is refused before any replica, in the form of a replica's refusal."""
    status, text = answer(address, host)

    assert (status, json.loads(text)["error"]) == (403, "forbidden")
