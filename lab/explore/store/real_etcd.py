"""A real etcd server for the explorer alone. A place in it is a prefix of its keys.

Revisions count from the place's own start: 1 before its first write. Leases are named by the client that was granted them.
The server gets a lease that lives for an hour; the TTL of an answer is the one that the client has asked for.

A watch is asked as the client asks it. Whether it has an event already is decided without waiting: the watched key is written
and deleted after it. Events come in order, so if that is the first that comes, the client would still wait.

A request is the words of a command: ``DeleteRange key=L/a00001-…``. The gateway has JSON with base64 in it. In words, and so in
events and pictures, a field is ``name=value``, and what is in base64 is plain text. Source: etcd, "gRPC gateway", and rpc.proto.
"""

from __future__ import annotations

import http.client
import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from lab.explore.store.commands import WAITING
from lab.explore.store.histories import EXPIRE, LEFT, Done, Item, Lease, RealStore, Shape, StorePlace
from lab.explore.store.resp import Reply, Words

MOST_PLACES = 40
REAL_TTL_S = 3600
ANSWERS_WITHIN_S = 20.0
OF_REVISIONS = (
    *("revision", "create_revision", "mod_revision", "start_revision"),
    *("max_create_revision", "min_create_revision", "max_mod_revision", "min_mod_revision"),
)
OF_LEASES = ("lease", "ID")
SAME_EVERYWHERE = ("cluster_id", "member_id", "raft_term", "watch_id")
CLIENT = "client"  # a word of LeaseGrant: the number of the client, which the server does not get


class RealEtcd(RealStore):
    """The server."""

    most_places = MOST_PLACES

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self._http = http.client.HTTPConnection(host, port, timeout=ANSWERS_WITHIN_S)
        about = json.loads(self.ask("maintenance/status", {})[1])
        self.version = f"etcd {about['version']}"

    def place(self) -> EtcdPlace:
        """Return a fresh prefix."""
        return EtcdPlace(self, f"{self.new_name()}/")

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def ask(self, path: str, body: Body) -> tuple[int, bytes]:
        """Send a request, and return the status and the text of its answer. Raises OSError."""
        self._http.request("POST", f"/v3/{path}", json.dumps(body))
        with self._http.getresponse() as answer:
            return answer.status, answer.read()


class _Granted(NamedTuple):
    """A lease of a place."""

    number: int  # at the server
    ttl_s: int
    client: int


class EtcdPlace(StorePlace):
    """A prefix of the keys."""

    def __init__(self, real: RealEtcd, prefix: str) -> None:
        super().__init__()
        self.real, self.prefix = real, prefix
        self._is_ahead = False  # an answer had a price: its revision has grown
        self._base = self._revision()
        self._past: list[dict[str, str]] = [{}]  # of each revision, the keys with the revision at which each was written
        self._leases: dict[int, _Granted] = {}  # those that have not ended, by the number that the client has

    @property
    def is_spent(self) -> bool:
        """Whether the place does not stand where it should any more. Its leases live for longer than any search."""
        return self._is_ahead

    # what happens here

    def do(self, command: Words) -> Done:
        """Execute a command."""
        name = command[0]
        if name == LEFT:  # a lease outlives its client
            return Done(Reply(b"", b""))
        if name == EXPIRE:
            number = int(command[1], 16)
            self._end(number)
            return Done(Reply(b"", b""))
        body = body_of(command)
        if name == b"LeaseGrant":
            return self._grant(body)
        if name == b"Watch":
            return self._watched(body)
        if name == b"LeaseRevoke":
            return Done(_reply(*self._end(int(body["ID"]))))
        status, answer = self._ask(name, body)
        renewed: tuple[bytes, ...] = ()
        if name == b"LeaseKeepAlive" and int(answer.get("result", {}).get("TTL", 0)) > 0:
            number = int(body["ID"])
            answer["result"]["TTL"] = str(self._leases[number].ttl_s)
            renewed = (_named(number),)
        return Done(_reply(status, answer), renewed)

    def _grant(self, body: Body) -> Done:
        client, ttl_s = int(body.pop(CLIENT, 0)), int(body["TTL"])
        status, answer = self._ask(b"LeaseGrant", body | {"TTL": REAL_TTL_S})
        number = self.new_lease(client)
        self._leases[number] = _Granted(int(answer["ID"]), ttl_s, client)
        return Done(_reply(status, answer | {"ID": str(number), "TTL": str(ttl_s)}))

    def _watched(self, body: Body) -> Done:
        """Return what a watch reports at once. The place is spent then, for its revision has grown."""
        asked = body["create_request"]
        watching = http.client.HTTPConnection(self.real.host, self.real.port, timeout=ANSWERS_WITHIN_S)
        try:
            watching.request("POST", f"/v3/{PATHS[b'Watch']}", json.dumps(coded(changed(body, self._there))))
            stream = watching.getresponse()
            lines = [changed(plain(json.loads(stream.readline())), self._here)]
            now = 1 + len(self.writes)
            for name in (b"Put", b"DeleteRange"):
                self._ask(name, {"key": asked["key"]})
            self._is_ahead = True
            result: Body = lines[-1].get("result", {})
            while not (result.get("events") or result.get("canceled")):
                lines.append(changed(plain(json.loads(stream.readline())), self._here))
                result = lines[-1].get("result", {})
        finally:
            watching.close()
        known = [one for one in result.get("events", ()) if int(one["kv"]["mod_revision"]) <= now]
        if not known and not result.get("canceled"):
            return Done(WAITING)
        if known:
            result["events"], result["header"]["revision"] = known, str(now)
        text = b"".join(json.dumps(coded(line)).encode() + b"\n" for line in lines)
        return Done(Reply(text, _shown({"events": known, "canceled": bool(result.get("canceled"))})))

    def read(self) -> Shape:
        """Return the keys, the leases that have not ended, and what was at each revision: a watch can begin at any of them."""
        while len(self._past) <= len(self.writes):
            _, then = self._ask(b"Range", {"key": "", "range_end": "\0", "revision": len(self._past) + 1, "keys_only": True})
            self._past.append({one["key"]: one["mod_revision"] for one in then.get("kvs", ())})
        _, found = self._ask(b"Range", {"key": "", "range_end": "\0"})
        items = []
        for one in found.get("kvs", ()):
            about = {name: part for name, part in one.items() if name not in ("key", "lease")}
            lease = int(one.get("lease", 0))
            value = json.dumps(about, sort_keys=True).encode()
            items.append(Item(one["key"].encode(), value, _named(lease) if lease else b""))
        leases = tuple([Lease(_named(number), one.ttl_s * 1000, one.client) for number, one in sorted(self._leases.items())])
        changes = []
        for before, after in pairwise(self._past):
            new = sorted(name for name, one in after.items() if before.get(name) != one)
            changes.append(
                "".join([*(f"-{name}" for name in sorted(before.keys() - after.keys())), *(f"+{name}" for name in new)])
            )
        rest = f"revisions {' '.join(changes)}, granted {sorted(self.granted.items())}"
        return Shape(tuple(items), leases, rest.encode())

    def close(self) -> None:
        """End all leases, and delete all keys."""
        for number in list(self._leases):
            self._ask(b"LeaseRevoke", {"ID": number})
        self._ask(b"DeleteRange", {"key": "", "range_end": "\0"})

    def _end(self, lease: int) -> tuple[int, Body]:
        """End a lease. Its keys are deleted at the next revision, which the answer does not have."""
        before = self._revision()
        status, answer = self._ask(b"LeaseRevoke", {"ID": lease})
        self._leases.pop(lease, None)
        if (after := self._revision()) > before:
            self.writes.append(after)
        answer.get("header", {})["revision"] = str(1 + len(self.writes))
        return status, answer

    def _revision(self) -> int:
        """Return the revision of the server."""
        key = coded({"key": self.prefix})
        return int(json.loads(self.real.ask(PATHS[b"Range"], key | {"count_only": True})[1])["header"]["revision"])

    # names here and there

    def _ask(self, name: bytes, body: Body) -> tuple[int, Body]:
        """Send a request in the names of the server, and return its answer in those of the place."""
        status, text = self.real.ask(PATHS[name], coded(changed(body, self._there)))
        answer = json.loads(text)
        if _wrote(name, answer):
            self.writes.append(int(answer["header"]["revision"]))
        found: Body = changed(plain(answer), self._here)
        return status, found

    def _there(self, name: str, part: Any) -> Any:
        """Return the value of a field of a request in the names of the server."""
        if name == "range_end" and part == "\0":  # all that follows
            return self.prefix[:-1] + chr(ord(self.prefix[-1]) + 1)
        if name in ("key", "range_end"):
            return self.prefix + part
        if name in OF_REVISIONS and int(part):
            all_writes = [self._base, *self.writes]
            behind = max(0, int(part) - len(all_writes))  # in the future
            return str(all_writes[max(0, int(part) - behind - 1)] + behind)
        known = self._leases.get(int(part)) if name in OF_LEASES else None
        return str(known.number) if known is not None else part

    def _here(self, name: str, part: Any) -> Any:
        """Return the value of a field of an answer in the names of the place."""
        if name == "key":
            return part.removeprefix(self.prefix)
        if (name in OF_REVISIONS and int(part)) or name in SAME_EVERYWHERE:
            return str(self.number_here(int(part))) if name in OF_REVISIONS else "1"
        if name in OF_LEASES:
            return next((str(number) for number, one in self._leases.items() if one.number == int(part)), part)
        return part


def _wrote(name: bytes, answer: Body) -> bool:
    """Return whether a command has written: the revision of its answer is that of the write."""
    if "header" not in answer:
        return False
    parts = [one for response in answer.get("responses", ()) for one in response.items()]
    puts = name == b"Put" or any(kind == "response_put" for kind, _ in parts)
    return puts or any(int(one.get("deleted", 0)) > 0 for one in (answer, *[part for _, part in parts]))


def _named(lease: int) -> bytes:
    return f"{lease:x}".encode()


def _reply(status: int, answer: Body) -> Reply:
    """Return an answer as the client gets it: the status, a space, the text."""
    return Reply(b"%d %b" % (status, json.dumps(coded(answer)).encode()), _shown(answer))


def _shown(answer: Body) -> bytes:
    """Return an answer as a reader sees it."""
    return json.dumps(_without_headers(answer), separators=(",", ":"), ensure_ascii=False).encode()


def _without_headers(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _without_headers(one) for name, one in part.items() if name not in ("header", "more")}
    return [_without_headers(one) for one in part] if isinstance(part, list) else part


PATHS = {
    b"Txn": "kv/txn",
    b"Range": "kv/range",
    b"Put": "kv/put",
    b"DeleteRange": "kv/deleterange",
    b"LeaseGrant": "lease/grant",
    b"LeaseKeepAlive": "lease/keepalive",
    b"LeaseRevoke": "lease/revoke",
    b"LeaseTimeToLive": "lease/timetolive",
    b"Watch": "watch",
}
IN_BASE64 = ("key", "range_end", "value")

Body = dict[str, Any]


def name_of(path: str) -> bytes:
    """Return the name of the command behind a path of the gateway; empty for one that has no model."""
    return next((name for name, end in PATHS.items() if path.endswith(f"/{end}")), b"")


def words_of(name: bytes, body: Body) -> Words:
    """Return a request as words."""
    return (name, *[f"{field}={_text(one)}".encode() for field, one in plain(body).items()])


def body_of(words: Words) -> Body:
    """Return the request that the words stand for, with plain text in place of base64."""
    fields = [word.decode().partition("=") for word in words[1:]]
    return {field: value if field in IN_BASE64 else _value(value) for field, _, value in fields}


def plain(body: Any) -> Any:
    """Return a request or an answer with plain text in place of base64."""
    return changed(body, lambda name, one: b64decode(one).decode(errors="replace") if name in IN_BASE64 else one)


def coded(body: Any) -> Any:
    """Return a request or an answer as the gateway has it."""
    return changed(body, lambda name, one: b64encode(one.encode()).decode() if name in IN_BASE64 else one)


def changed(part: Any, change: Callable[[str, Any], Any], name: str = "") -> Any:
    """Return a request or an answer with its values changed. change: of the name of a field and its value."""
    if isinstance(part, dict):
        return {field: changed(one, change, field) for field, one in part.items()}
    return [changed(one, change) for one in part] if isinstance(part, list) else change(name, part)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
