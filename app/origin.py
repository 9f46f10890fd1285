"""Refuse requests that a browser sends on behalf of another site's page.

A page of any site can make a visitor's browser post to this machine. If the site's name resolves to this machine, the page
can read answers as well. A browser states the name that it asked for (Host) and the site of the page (Origin). A client that
sends neither is not a browser, and no page controls it.
"""

from __future__ import annotations

from functools import lru_cache
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@lru_cache(maxsize=64)  # nearly all requests of a run have the same Host, and no Origin
def foreign(host: str | None, origin: str | None, names: tuple[str, ...]) -> str:
    """Return why a request is refused; empty where it is not. names: the names of this server, any name if empty."""
    name = _name(host) if host else ""
    if name and names and name not in names:
        return f"the Host must be one of {', '.join(names)}, and this is {host!r}; LAB_HOSTS adds a name"
    if origin is None:
        return ""
    try:
        site = _name(urlsplit(origin).netloc.rpartition("@")[2])
    except ValueError:
        site = ""
    if not site or site not in (names or (name,)):
        return f"a page of another site made this request: its Origin is {origin!r}"
    return ""


def _name(address: str) -> str:
    """Return an address without its port, in lower case: ``localhost`` of ``LocalHost:8000``."""
    name, colon, port = address.rpartition(":")
    return (name if colon and not port.endswith("]") else address).lower()
