"""Refuse requests that a browser sends for a page of another site, for a replica and the lab's pages.

A page of any site can make a visitor's browser post to this machine. If its host name resolves to this machine, it can read
answers as well. A browser states the origin of a request (Origin, Sec-Fetch-Site) and the server's name (Host). A client that
sends no origin, such as curl, is no browser, and no page controls it.
"""

from __future__ import annotations

from werkzeug.exceptions import SecurityError
from werkzeug.wrappers import Request

READING = ("GET", "HEAD", "OPTIONS")
OWN = (None, "same-origin", "none")  # none: the visitor typed the address, or used a bookmark
STRANGE = "this request was made by a page of another site"


def foreign(request: Request) -> str:
    """Return the reason to refuse a request; empty if there is none. Its trusted hosts are the server's names; None: any name."""
    try:
        host = request.host
    except SecurityError:
        return f"the Host must be {' or '.join(request.trusted_hosts or ())}"
    site, origin = request.headers.get("Sec-Fetch-Site"), request.headers.get("Origin")
    if request.method in READING:  # a link to this server is allowed; another site's page may not read its answers
        return STRANGE if site == "cross-site" and request.headers.get("Sec-Fetch-Mode") != "navigate" else ""
    return STRANGE if site not in OWN or (origin is not None and origin.partition("://")[2] != host) else ""
