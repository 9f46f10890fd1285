"""Who may ask: a replica and the lab's pages refuse what a browser sends for a page of another site.

A page of any site can make a visitor's browser post to this machine. If its host name resolves to this machine, it can read
answers as well. A browser states where a request comes from (Origin, Sec-Fetch-Site) and the server's name (Host). A client that
sends none of these, such as curl, is no browser, and no page controls it.
"""

from __future__ import annotations

from werkzeug.exceptions import SecurityError
from werkzeug.wrappers import Request

READING = ("GET", "HEAD", "OPTIONS")
OWN = (None, "same-origin", "none")  # none: the visitor typed the address, or used a bookmark
STRANGE = "this request was made by a page of another site"


def foreign(asked: Request) -> str:
    """Return why this request is refused; empty if it is not. Its trusted hosts are the server's names; None: any name."""
    try:
        host = asked.host
    except SecurityError:
        return f"the Host must be {' or '.join(asked.trusted_hosts or ())}"
    site, origin = asked.headers.get("Sec-Fetch-Site"), asked.headers.get("Origin")
    if asked.method in READING:  # a link to this server is allowed; another site's page may not read its answers
        return STRANGE if site == "cross-site" and asked.headers.get("Sec-Fetch-Mode") != "navigate" else ""
    return STRANGE if site not in OWN or (origin is not None and origin.partition("://")[2] != host) else ""
