"""The seam to etcd: the lab's own client of etcd, whose HTTP session is the explorer's. Each request is a command.

Only the session is replaced, in which ``etcd3gw`` and the lab's client send their requests. So all of their code runs
unchanged, the thread that keeps a session alive among it. A reply that is lost is the error that the failpoints of a run
raise.
"""

from __future__ import annotations

import json as jsons
from collections.abc import Iterator
from typing import Any, Self
from urllib.parse import urlsplit

import requests

from app.journal import Journal
from app.settings import Address, Endpoint
from app.stores.etcd import Etcd
from lab.explore.code.operation import GAVE_UP, LOCK, LOST, CommandSent
from lab.explore.code.replica import current
from lab.explore.model import on_grid
from lab.explore.store.real_etcd import CLIENT, name_of, words_of

ENDPOINT = Endpoint(scheme="etcd", addresses=(Address("explored", 2379),))


class Answered:
    """An answer, with what ``etcd3gw`` asks of it."""

    reason = ""

    def __init__(self, raw: bytes) -> None:
        status, _, text = raw.partition(b" ")
        self.status_code, self.text = int(status), text.decode()

    def json(self) -> Any:
        """Return the content."""
        return jsons.loads(self.text)


class Stream:
    """The answer to a watch: it comes in parts."""

    def __init__(self, sent: CommandSent) -> None:
        self.sent = sent

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Do nothing: no connection is open."""

    def iter_content(self, chunk_size: int | None = None) -> Iterator[bytes]:
        """Yield what the watch reports, once it does. Raises requests.ReadTimeout where that takes too long."""
        yield _raw(self.sent)


class Session:
    """In place of a ``requests.Session``."""

    trust_env = False

    def post(
        self, url: str, json: Any = None, data: Any = None, timeout: Any = None, stream: bool = False, **_: Any
    ) -> Answered | Stream:
        """Send a request. Raises requests.RequestException where its reply is lost."""
        here = current()
        path = urlsplit(url).path
        name, body = name_of(path), json if data is None else jsons.loads(data)
        if not name:
            raise here.refuse(f"it asks etcd for {path}, which has no model")
        if name == b"LeaseGrant":
            body = body | {CLIENT: here.number}
        sent = CommandSent(LOCK, words_of(name, body), *here.line())
        if not stream:
            return Answered(_raw(sent))
        patience_s = timeout[1] if isinstance(timeout, tuple) else timeout
        return Stream(sent._replace(patience_ms=None if patience_s is None else here.now_ms + on_grid(patience_s * 1000)))

    def mount(self, *_: Any) -> None:
        """Do nothing: there are no connections."""

    def close(self) -> None:
        """Do nothing, as above."""


def _raw(sent: CommandSent) -> bytes:
    raw = current().command(sent)
    if raw is LOST:
        raise requests.RequestException("the reply was lost")
    if raw is GAVE_UP:
        raise requests.ReadTimeout("timed out")
    assert isinstance(raw, bytes)  # noqa: S101 - a store answers in bytes
    return raw


def client() -> Etcd:
    """Return the client for a lock, in the replica that runs."""
    made = Etcd(ENDPOINT, Journal(None))
    made._http = Session()  # type: ignore[assignment] # noqa: SLF001 - the seam
    made._servers = [made._client(one.host, one.port) for one in ENDPOINT.addresses]  # noqa: SLF001 - as above
    return made
