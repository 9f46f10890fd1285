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
STRANGE = "this request was made by a page of another site"
LOOPBACK = ("127.0.0.1", "localhost")


def foreign(method: str, headers: Mapping[str, str], names: Collection[str] = ()) -> str:
    """Why this request is refused; empty where it is not. names: what this server may be called, any name if empty."""
    said = {name.lower(): value for name, value in headers.items()}  # as a proxy may have written them
    host, origin, site = said.get("host", ""), said.get("origin"), said.get("sec-fetch-site", "none")
    try:
        name, at = urlsplit(f"//{host}").hostname, host if origin is None else urlsplit(origin).netloc
    except ValueError:
        return "its Host or Origin cannot be read"
    if names and name not in names:
        return f"this server is called {' or '.join(names)}"
    if method in READING:  # following a link to here is no harm; being read, or kept open, by another site's page is
        return STRANGE if site == "cross-site" and said.get("sec-fetch-mode") != "navigate" else ""
    return STRANGE if at != host or site not in OWN else ""
