"""etcd: an ensemble, or one server if the scenario asks for one. No key events are recorded.

A watch would report that a key was deleted, but not whether its lease had expired or was revoked.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence

from lab.evidence.fault_record import FaultRecord
from lab.scenario.scenario import Scenario
from lab.servers.ports import free_port
from lab.servers.process import ServerProgram
from lab.servers.programs.etcd import EtcdServer, ask, metrics, status
from lab.servers.server import Server
from lab.servers.store import addresses

HANDLED = re.compile(r'^grpc_server_handled_total\{.*grpc_method="(\w+)".*\} (\S+)$', re.MULTILINE)
LABS_OWN = ["Status"]
url = addresses


def programs(scenario: Scenario) -> list[ServerProgram]:
    names = [f"lock-etcd-{number}" for number in range(1, scenario.store_nodes + 1)]
    peers = {name: free_port() for name in names}
    return [EtcdServer(name, peers) for name in names]


def commands(running: Sequence[Server]) -> dict[str, int]:
    calls: dict[str, int] = {}
    for one in running:
        if not one.killed:
            for method, count in HANDLED.findall(metrics(one.port, one.host)):
                if method not in LABS_OWN:
                    calls[method] = calls.get(method, 0) + int(float(count))
    return calls


def end_session(running: Sequence[Server], record: FaultRecord) -> int:
    """Revoke the lease of the oldest key: it belongs to the current holder, and so does the fault record."""
    found = ask(running[0].port, "kv/range", running[0].host, **_everything(), sort_order="ASCEND", sort_target="CREATE", limit=1)
    ask(running[0].port, "lease/revoke", running[0].host, ID=found["kvs"][0]["lease"])
    return 1


def _everything() -> dict[str, str]:
    """Return the range of all keys."""
    return {"key": _coded("\0"), "range_end": _coded("\0")}


def _coded(text: str) -> str:
    return b64encode(text.encode()).decode()


def leader(running: Sequence[Server]) -> Server:
    """Return the server that leads. Raises OSError when there is none."""
    for one in running:
        member = status(one.port, one.host)
        if member["leader"] == member["header"]["member_id"]:
            return one
    raise OSError("no etcd server leads")
