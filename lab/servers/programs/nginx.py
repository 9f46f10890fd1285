"""nginx in front of the replicas: round robin, keep-alive, and no request sent twice."""

from __future__ import annotations

import resource
import signal
from dataclasses import dataclass
from pathlib import Path

from lab.servers.process import ServerProgram
from lab.servers.programs.gunicorn import health

CONNECTIONS = 40_960  # a request uses two, one on each side
# Paths are below the prefix (-p): a folder's name may hold a space, or a letter that means something here.
CONFIG = """
daemon off;
# one process: a worker would outlive its master if that was killed
master_process off;
pid pid;
error_log log warn;
events {{ worker_connections {connections}; }}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 1000000;
  keepalive_timeout 1d;  # a user keeps its connection while it thinks
  upstream replicas {{
    # max_fails=0: otherwise nginx avoids a replica for ten seconds after one failure
{servers}
    keepalive 256;
    keepalive_requests 1000000;
  }}
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location / {{
      proxy_pass http://replicas;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Host $http_host;
      # an increment is never sent a second time, whatever happened to the first
      proxy_next_upstream off;
      proxy_connect_timeout 5s;
      proxy_read_timeout {read_timeout_s}s;
    }}
  }}
}}
"""


@dataclass(frozen=True)
class Nginx(ServerProgram):
    """The proxy in front of the replicas."""

    ports: tuple[int, ...]  # the replicas' ports
    run: str  # the run to which the replicas must belong
    read_timeout_s: int = 60  # longer than any request may take
    fixed_port: int = 0
    name: str = "nginx"
    executable = "nginx"
    stop_signal = signal.SIGTERM

    def argv(self, port: int, folder: Path) -> list[str]:
        servers = "\n".join(f"    server 127.0.0.1:{replica} max_fails=0;" for replica in self.ports)
        # nginx closes an idle connection when it runs out of connections, and none when it runs out of files
        connections = min(CONNECTIONS, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        config = CONFIG.format(port=port, servers=servers, connections=connections, read_timeout_s=self.read_timeout_s)
        path = folder / "nginx.conf"
        path.write_text(config, encoding="utf-8")
        # -e: before nginx reads its configuration, it would write to a log that it may not own
        return ["-p", str(folder), "-e", str(folder / "log"), "-c", str(path)]

    def ready(self, port: int, pid: int) -> bool:
        return bool(health(port)["run"] == self.run)
