"""One replica: gunicorn with one worker process and a thread pool, like a JVM behind Tomcat."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.errors import NotReady
from lab.paths import HOME, INSTALLED
from lab.servers.process import ServerProgram
from lab.servers.server import LOOPBACK
from lab.servers.supervisor import Forkable

THREADS = 32
REDIS = tuple(f"app.stores.redis_{part}" for part in ("connection", "steps", "subscriptions"))
MODULES = ("gunicorn.arbiter", "gunicorn.workers.gthread", "app.web", *REDIS)
INTERPRETERS = 2  # on separate hosts, hash() of a text is another number in each process: not all replicas may agree on it
CONFIG = Path(__file__).parents[1] / "gunicorn_config.py"  # settings without an option on the command line


@dataclass(frozen=True)
class Gunicorn(ServerProgram):
    """A replica."""

    name: str  # the replica's name
    # the app's settings, by the names of ``app.settings.Settings``
    settings: dict[str, str] = field(default_factory=dict)
    listen: str = LOOPBACK  # the address to listen on
    stores: tuple[str, ...] = ()  # the stores of its stages
    executable = "gunicorn"

    def argv(self, port: int, folder: Path) -> list[str]:
        options = {
            "bind": f"{self.listen}:{port}",
            "workers": 1,
            "worker-class": "gthread",
            "threads": THREADS,
            "timeout": 0,  # gunicorn would kill a replica that a fault stopped for 30 s
            "keep-alive": 120,  # longer than nginx's, or nginx re-uses a connection that is being closed
            "backlog": 4096,
            "worker-tmp-dir": str(folder),
            "chdir": str(folder if INSTALLED else HOME),  # for a lock that writes files, and for a clone's packages
            "config": str(CONFIG),
            "log-level": "warning",
        }
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        return [*words, "--no-control-socket", "app.web:create_app()"]

    def env(self, port: int) -> dict[str, str]:
        known = {f"LAB_{name.upper()}": value for name, value in self.settings.items()} | {"LAB_REPLICA": self.name}
        # in a container, a replica has several names in its network: any Host is accepted, because its port is not published
        return known if self.listen == LOOPBACK else {"LAB_HOSTS": "any"} | known

    @property
    def forkable(self) -> Forkable:
        """Return the modules that a replica imports before it reads its stage."""
        modules = (*MODULES, *(f"app.stores.{name}" for name in self.stores))
        return Forkable("gunicorn.app.wsgiapp:run", modules, interpreters=INTERPRETERS)

    def ready(self, port: int, pid: int) -> bool:
        about = health(port)
        if about.get("worker"):
            raise NotReady(str(about["worker"]))
        return (about["run"], about["replica"]) == (self.settings["run"], self.name)


def health(port: int, host: str = LOOPBACK, timeout_s: float = 2.0) -> dict[str, Any]:
    """Return the replica's state, asked directly. Raises OSError while it does not answer."""
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
