"""One replica: gunicorn with one worker process and threads inside, as a JVM behind Tomcat."""

from __future__ import annotations

import http.client
import json
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.paths import HOME
from lab.servers.server import LOOPBACK

THREADS = 32


@dataclass(frozen=True)
class Gunicorn:
    """name: the replica's. settings: the app's own, by the names of ``app.settings.Settings``. listen: the
    address it is reached at.
    """

    name: str
    settings: dict[str, str] = field(default_factory=dict)
    threads: int = THREADS
    listen: str = LOOPBACK
    executable: str = "gunicorn"
    stop_signal: signal.Signals = signal.SIGQUIT  # quick: what is in flight has been waited for by then

    def argv(self, port: int, folder: Path) -> list[str]:
        options = {
            "bind": f"{self.listen}:{port}",
            "workers": 1,
            "worker-class": "gthread",
            "threads": self.threads,
            "timeout": 0,  # a stopped replica is to stay stopped: gunicorn would kill it after 30 s
            "keep-alive": 120,  # longer than nginx keeps idle connections, or it re-uses one that is being closed
            "backlog": 4096,
            "worker-tmp-dir": str(folder),
            "chdir": str(HOME),
            "log-level": "warning",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return [*words, "--no-control-socket", "app.web:create_app()"]

    def env(self, port: int) -> dict[str, str]:
        return {f"LAB_{name.upper()}": value for name, value in self.settings.items()} | {"LAB_REPLICA": self.name}

    def ready(self, port: int, pid: int) -> bool:
        about = health(port)
        return (about["run"], about["replica"]) == (self.settings["run"], self.name)


def health(port: int, host: str = LOOPBACK, timeout_s: float = 2.0) -> dict[str, Any]:
    """What the replica says of itself, asked directly. Raises OSError while it does not answer."""
    connection = http.client.HTTPConnection(host, port, timeout=timeout_s)
    try:
        connection.request("GET", "/health")
        response = connection.getresponse()
        if response.status != 200:
            raise OSError(f"/health answered {response.status}")
        about: dict[str, Any] = json.loads(response.read())
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    finally:
        connection.close()
    return about
