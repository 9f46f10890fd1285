"""What both sides of ``lab ui`` need, the lab and the Locust process: its environment, its refusals, who may ask.

Importing Locust's plugin would patch the whole process, and importing the lab's side would slow down each start of Locust.

A page of any site can make a visitor's browser post to this machine. If its host name resolves to
this machine, it can read answers as well. A browser states where a request comes from (Origin,
Sec-Fetch-Site) and the server's name (Host). A client that sends none of these, such as curl, is no
browser, and no page controls it.
"""

from __future__ import annotations

from enum import StrEnum

from werkzeug.exceptions import SecurityError
from werkzeug.wrappers import Request

# the environment variables by which the lab configures Locust
LIVE = "LOCK_LAB_LIVE"  # the address of the lab's own pages, as Locust reaches them
KEY = "LOCK_LAB_KEY"  # the teacher's key, which Locust's page asks for; empty if it needs none
ORDERS_KEY = "LOCK_LAB_ORDERS_KEY"  # the key with which Locust asks the lab

ORDERS = "/orders/"  # below it, the lab answers Locust
SENT_KEY = "X-Lab-Key"  # the header with that key


class Refusal(StrEnum):
    """What the pages refuse, and why; lab/story/words.toml has the Chinese."""

    BUSY = "a run is under way: wait for its verdict, or press Stop"
    FULL = "the lab takes no more devices that predict, until it is started anew"
    TEACHER_ONLY = "only the teacher's page can do this: the lab printed its address when it started"
    NOT_JOINED = "this device has not joined the class: scan the code on the wall, or type the word there"


READING = ("GET", "HEAD", "OPTIONS")
OWN = (None, "same-origin", "none")  # none: the visitor typed the address, or used a bookmark
STRANGE = "this request was made by a page of another site"
LOOPBACK = ("127.0.0.1", "localhost")


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
