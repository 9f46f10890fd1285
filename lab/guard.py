"""Which requests of a browser are refused: those that another site's page made it send.

A page of any site can have a reader's browser post to this machine, and one whose name was made to point here can read as
well. A browser says where a request comes from (Origin, Sec-Fetch-Site) and what it takes this server to be called (Host);
what says nothing, as curl, is no browser, and is no stranger's tool.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

READING = ("GET", "HEAD", "OPTIONS")
OWN = ("same-origin", "none")  # none: the reader typed the address, or used a bookmark
LOOPBACK = ("127.0.0.1", "localhost")


def foreign(method: str, headers: Mapping[str, str], names: Collection[str] = ()) -> str:
    """Why this request is refused; empty where it is not. names: what this server may be called, any name if empty."""
    host = headers.get("Host") or ""
    if names and urlsplit(f"//{host}").hostname not in names:
        return f"this server is called {' or '.join(names)}"
    if method in READING:
        return ""
    origin = headers.get("Origin")
    site = headers.get("Sec-Fetch-Site")
    if (origin is not None and urlsplit(origin).netloc != host) or (site is not None and site not in OWN):
        return "this request was made by a page of another site"
    return ""
