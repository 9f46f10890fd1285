"""A real ZooKeeper server for the explorer alone. A place in it is a node, below which the names of a stage begin.

Each session of a client is a session of the server, with a timeout that is never over while the place is used: it is closed
when the clock of the search says so. Sequence numbers are the server's: those below a new node begin with 0. The numbers of
transactions count from the place's own start. An event of a watch has been sent when the change that caused it is answered,
so nothing needs to wait for it: each connection is asked for a heartbeat, and the events come before the reply.

A request is the words of a command: ``Delete a00001 /L/…-0000000000``. The second is the session; paths and data are plain text.
The messages are kazoo's. Source: zookeeper.jute, and kazoo's ``protocol/connection.py``.
"""

from __future__ import annotations

import json
import socket
import struct
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from kazoo.exceptions import NoNodeError, SessionExpiredError
from kazoo.protocol import serialization as jute
from kazoo.protocol.states import ZnodeStat
from kazoo.security import OPEN_ACL_UNSAFE

from lab.explore.model import KEY
from lab.explore.store.commands import WAITING
from lab.explore.store.histories import EXPIRE, LEFT, UNUSED_FOR_S, Done, Item, Lease, RealStore, Shape, StorePlace
from lab.explore.store.resp import Reply, Words
from lab.servers.programs.zookeeper import four_letter

MOST_PLACES = 16
REAL_TIMEOUT_MS = 120_000
CONNECT, PING, EVENT = b"Connect", b"Ping", b"WatchEvent"
NODE = f"/{KEY}".encode()  # of the lock
EXPIRED: int = SessionExpiredError.code
NO_NODE: int = NoNodeError.code
OF_CHILDREN = (b"GetChildren", b"GetChildren2")
CHILD_EVENT, DELETED_EVENT = 4, 2


class RealZooKeeper(RealStore):
    """The server."""

    most_places = MOST_PLACES

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.own = ZooKeeperWire(host, port, REAL_TIMEOUT_MS)  # reads what is there
        self._used_s = time.monotonic()
        self.version = f"ZooKeeper {four_letter(port, 'srvr', host).partition('version: ')[2].partition('-')[0]}"

    def place(self) -> ZooKeeperPlace:
        """Return a fresh node."""
        return ZooKeeperPlace(self, f"/{self.new_name()}")

    def sends_again(self, command: Words) -> bool:
        """Return that kazoo sends nothing again."""
        return False

    def look(self, request: Any) -> tuple[int, int, Any]:
        """Ask on the explorer's own connection. A session that was unused for long is begun again."""
        if time.monotonic() - self._used_s > UNUSED_FOR_S:
            self.own.drop()
            self.own = ZooKeeperWire(self.host, self.port, REAL_TIMEOUT_MS)
        self._used_s = time.monotonic()
        return self.own.ask(request)

    def close(self) -> None:
        """Leave the explorer's own session."""
        self.own.drop()


class _Session(NamedTuple):
    """A session of a place that has not ended."""

    wire: ZooKeeperWire
    client: int
    timeout_ms: int
    # what it watches, as the kind and the path, and the events that its client has not taken
    watches: set[tuple[bool, str]]
    events: list[tuple[int, str]]


class ZooKeeperPlace(StorePlace):
    """A node of the server."""

    def __init__(self, real: RealZooKeeper, root: str) -> None:
        super().__init__()
        self.real, self.root = real, root
        self._sessions: dict[bytes, _Session] = {}
        self._has_folder = False
        real.look(jute.Create(root, b"", OPEN_ACL_UNSAFE, 0))

    def do(self, command: Words) -> Done:
        """Execute a command."""
        self.use()
        done = self._done(command)
        for one in self._sessions.values():
            self._take_events(one)
        return done

    def _done(self, command: Words) -> Done:
        if command[0] == LEFT:
            self._forget(int(command[1]))
        elif command[0] == EXPIRE:
            self.writes.append(self._sessions.pop(command[1]).wire.close())
        if command[0] in (LEFT, EXPIRE):
            return Done(_reply(0, None))
        if command[0] == CONNECT:
            return self._begin(int(command[1]), int(command[2]))
        session = self._sessions.get(command[1])
        if session is None:
            return Done(_reply(EXPIRED, None))
        if command[0] == EVENT:
            return self._event(session, command[2].decode())
        renewed = (command[1],)
        if command[0] == PING:
            return Done(_reply(0, None), renewed)
        self._make_folder(command)
        zxid, error, answer = session.wire.ask(request_of(command, self._there))
        if command[0] in WRITES and not error:
            self.writes.append(zxid)
        if WATCH in command[3:] and (not error or (error == NO_NODE and command[0] == b"Exists")):
            session.watches.add((command[0] in OF_CHILDREN, command[2].decode()))
        return Done(_reply(error, self._here(answer)), renewed)

    def _make_folder(self, command: Words) -> None:
        """Make the node of the lock before the first node below it, once for all requests, unless a client makes it itself."""
        if self._has_folder or command[0] not in WRITES or NODE not in command[2]:
            return
        self._has_folder = True
        if NODE + b"/" in command[2]:
            self.real.look(jute.Create(self._there(NODE.decode()), b"", OPEN_ACL_UNSAFE, 0))

    def _begin(self, client: int, timeout_ms: int) -> Done:
        name = b"%x" % self.new_lease(client)
        self._sessions[name] = _Session(
            ZooKeeperWire(self.real.host, self.real.port, REAL_TIMEOUT_MS), client, timeout_ms, set(), []
        )
        return Done(_reply(0, name))

    def _event(self, session: _Session, path: str) -> Done:
        """Return the next event of a path; the client takes it."""
        event = next((one for one in session.events if one[1] == path), None)
        if event is None:
            return Done(WAITING)
        session.events.remove(event)
        return Done(_reply(0, event))

    def _take_events(self, session: _Session) -> None:
        session.wire.flush()
        for what, there in session.wire.events:
            path = self._here(there)
            gone = {
                one
                for one in session.watches
                if one[1] == path and what in ((DELETED_EVENT, CHILD_EVENT) if one[0] else (1, 2, 3))
            }
            if gone:  # otherwise its client is gone
                session.watches.difference_update(gone)
                session.events.append((what, path))
        session.wire.events.clear()

    def _forget(self, client: int) -> None:
        """Forget what the client of sessions watches: its process has died, and nobody takes events."""
        for one in self._sessions.values():
            if one.client == client:
                one.watches.clear()
                one.events.clear()

    def read(self) -> Shape:
        """Return the nodes, the sessions, what is watched, and how many transactions there were."""
        items = list(self._below(""))
        leases = tuple([Lease(name, one.timeout_ms, one.client) for name, one in sorted(self._sessions.items())])
        watched = [(name, sorted(one.watches), one.events) for name, one in sorted(self._sessions.items())]
        rest = f"transactions {len(self.writes)}, sessions {sorted(self.granted.items())}, watched {watched}"
        return Shape(tuple(items), leases, rest.encode())

    def _below(self, path: str) -> Any:
        _, error, found = self.real.look(jute.GetChildren2(self.root + path, None))
        for name in sorted(found[0]) if not error else ():
            child = f"{path}/{name}"
            _, gone, (data, stat) = self.real.look(jute.GetData(self.root + child, None))
            if not gone:
                about = self._here(stat)
                owner = self._owner(stat.ephemeralOwner)
                yield Item(
                    child.encode(),
                    repr((data, about.czxid, about.mzxid, about.pzxid, about.version, about.cversion)).encode(),
                    owner,
                )
                yield from self._below(child)

    def close(self) -> None:
        """End all sessions, and delete all nodes. Sessions that may have ended are left to the server."""
        while self._sessions and self.is_spent:
            self._sessions.popitem()[1].wire.drop()
        while self._sessions:
            self._sessions.popitem()[1].wire.close()
        for item in [*reversed([one.name.decode() for one in self._below("")]), ""]:
            self.real.look(jute.Delete(self.root + item, -1))

    # names here and there

    def _there(self, path: str) -> str:
        return self.root + path if path != "/" else self.root

    def _here(self, part: Any) -> Any:
        """Return a part of an answer in the names of the place, and without the time of day."""
        if isinstance(part, ZnodeStat):
            zxids = {name: self.number_here(getattr(part, name)) for name in ("czxid", "mzxid", "pzxid")}
            return part._replace(ctime=0, mtime=0, ephemeralOwner=int(self._owner(part.ephemeralOwner) or b"0", 16), **zxids)
        if isinstance(part, str):
            return part.removeprefix(self.root) or "/"
        return tuple(map(self._here, part)) if isinstance(part, (list, tuple)) else part

    def _owner(self, session: int) -> bytes:
        return next((name for name, one in self._sessions.items() if one.wire.session == session), b"")


def _reply(error: int, answer: Any) -> Reply:
    return Reply((error, answer), _shown(error, answer))  # type: ignore[arg-type] # only its client reads it


def _shown(error: int, answer: Any) -> bytes:
    """Return an answer as a reader sees it."""
    if error:
        return {EXPIRED: b"session expired", NO_NODE: b"no node"}.get(error, b"error %d" % error)
    if isinstance(answer, ZnodeStat):
        return b"czxid %d" % answer.czxid
    if isinstance(answer, tuple):
        return b", ".join(_shown(0, one) for one in answer)
    return answer if isinstance(answer, bytes) else str("OK" if answer is None else answer).encode()


WATCH = b"watch"
WRITES = (b"Create", b"Create2", b"Delete", b"SetData", b"Transaction")
LOOKS = (b"Exists", b"GetData", b"GetChildren", b"GetChildren2")
KINDS = {name: getattr(jute, name.decode()) for name in (*WRITES, *LOOKS, b"Sync")}


def words_of(request: Any, session: bytes) -> Words:
    """Return a request of kazoo as words. Raises KeyError for one that has no model."""
    name = type(request).__name__.encode()
    if name not in KINDS:
        raise KeyError(name.decode())
    return (name, session, *_parts(request))


def _parts(request: Any) -> list[bytes]:
    match request:
        case jute.Create() | jute.Create2():
            return [request.path.encode(), request.data, b"flags=%d" % request.flags]
        case jute.Delete():
            return [request.path.encode(), b"version=%d" % request.version]
        case jute.SetData():
            return [request.path.encode(), request.data, b"version=%d" % request.version]
        case jute.Transaction():
            return [json.dumps([[part.decode() for part in words_of(one, b"")] for one in request.operations]).encode()]
        case _:
            return [request.path.encode(), *([WATCH] if getattr(request, "watcher", None) else [])]


def request_of(words: Words, there: Callable[[str], str]) -> Any:
    """Return the request that words stand for. there: returns the server's name of a path."""
    kind, parts = KINDS[words[0]], words[2:]
    if kind is jute.Transaction:
        inner = [tuple(part.encode() for part in one) for one in json.loads(parts[0])]
        return jute.Transaction([request_of(one, there) for one in inner])
    path = there(parts[0].decode())
    if kind in (jute.Create, jute.Create2):
        return kind(path, parts[1], OPEN_ACL_UNSAFE, _number(parts[2]))
    if kind is jute.Delete:
        return jute.Delete(path, _number(parts[1]))
    if kind is jute.SetData:
        return jute.SetData(path, parts[1], _number(parts[2]))
    return kind(path, WATCH in parts[1:]) if words[0] in LOOKS else kind(path)


def _number(word: bytes) -> int:
    return int(word.partition(b"=")[2])


ANSWERS_WITHIN_S = 20.0
PING_XID, WATCH_XID = -2, -1
HEAD = struct.Struct("!i")
XID_AND_TYPE = struct.Struct("!ii")
NO_SESSION, NO_PASSWORD = 0, bytes(16)


class ZooKeeperWire:
    """A connection with a session of its own."""

    def __init__(self, host: str, port: int, timeout_ms: int) -> None:
        """Begin a session. Raises OSError."""
        self._socket = socket.create_connection((host, port), timeout=ANSWERS_WITHIN_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._file = self._socket.makefile("rb")
        self._xid = 0
        self.events: list[tuple[int, str]] = []  # of watches: what happened, and the path
        self._send(jute.Connect(0, 0, timeout_ms, NO_SESSION, NO_PASSWORD, False).serialize())
        self.session: int = jute.Connect.deserialize(self._frame(), 0)[0].session_id

    def ask(self, request: Any) -> tuple[int, int, Any]:
        """Send a request of kazoo, and return the transaction's number, the number of an error or 0, and the answer."""
        self._xid += 1
        self._send(XID_AND_TYPE.pack(self._xid, request.type) + request.serialize())
        header, frame, place = self._reply()
        answer = request.deserialize(frame, place) if not header.err and hasattr(request, "deserialize") else None
        return header.zxid, header.err, answer

    def flush(self) -> None:
        """Read the events that the server has sent until now: it answers a heartbeat after them."""
        self._send(XID_AND_TYPE.pack(PING_XID, jute.Ping.type))
        self._reply()

    def close(self) -> int:
        """End the session, and return the transaction's number: its ephemeral nodes are deleted."""
        self._xid += 1
        self._send(XID_AND_TYPE.pack(self._xid, jute.Close.type))
        zxid: int = self._reply()[0].zxid
        self.drop()
        return zxid

    def drop(self) -> None:
        """Close the connection, and leave its session to the server."""
        self._file.close()
        self._socket.close()

    def _reply(self) -> tuple[Any, bytes, int]:
        while True:
            frame = self._frame()
            header, place = jute.ReplyHeader.deserialize(frame, 0)
            if header.xid != WATCH_XID:
                return header, frame, place
            event, _ = jute.Watch.deserialize(frame, place)
            self.events.append((event.type, event.path))

    def _send(self, message: bytes | bytearray) -> None:
        self._socket.sendall(HEAD.pack(len(message)) + bytes(message))

    def _frame(self) -> bytes:
        head = self._file.read(HEAD.size)
        if len(head) < HEAD.size:
            raise ConnectionResetError("ZooKeeper has closed the connection")
        return self._file.read(HEAD.unpack(head)[0])
