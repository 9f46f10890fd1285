"""Send exactly N requests for ``lab count``, and write a line for each request that has ended. Locust loads this file.

It imports nothing of the lab: a user's own locustfile is in the same process, and its packages may have the lab's names. The user
is Locust's HttpUser, because its client never sends a request a second time, which would count twice.
"""

import json
import os
import sys
from pathlib import Path
from urllib.parse import urlsplit

import gevent
from locust import HttpUser, events, task
from locust.exception import StopUser

GIVEN = json.loads(os.environ["LAB_COUNT"])  # the options of the command, and the file to write into
SAFE = ("GET", "HEAD", "OPTIONS")  # methods that change nothing
lines = Path(GIVEN["record"]).open("a", encoding="utf-8", buffering=1)  # noqa: SIM115 - open as long as the process is
SENT = {"data": GIVEN["data"], "headers": dict(GIVEN["header"]), "timeout": GIVEN["timeout_s"], "allow_redirects": False}
unsent = iter(range(GIVEN["requests"]))
unanswered = GIVEN["requests"]


@events.test_start.add_listener
def begin(environment, **_):
    """End if the load would go to another machine than the allowed ones."""
    hosts = {urlsplit(environment.host or user.host or "").hostname for user in environment.user_classes}
    for host in hosts - {None, "localhost", "127.0.0.1", "::1", *GIVEN["allow_host"]}:
        sys.stderr.write(f"the load goes to {host}, another machine. If its owner agrees to that, add --allow-host {host}\n")
        os._exit(2)


def outcome(response, exception):
    """Return how a request ended, as its sender knows it: acknowledged, refused, failed or unknown.

    A status below 400 acknowledges, unless the sender's own check refused it. 4xx refuses. After 503 or a refused connection
    nothing has changed (failed). In all other cases it is unknown whether the request was counted.
    """
    status = getattr(response, "status_code", 0) or 0
    if 200 <= status < 400 and not exception:
        return "acknowledged"
    if 200 <= status < 500:
        return "refused"
    while exception and not isinstance(exception, ConnectionRefusedError):
        exception = exception.__cause__ or exception.__context__
    return "failed" if status == 503 or exception else "unknown"


@events.request.add_listener
def note(request_type, name, response_time, start_time, response=None, exception=None, **_):
    """Write a line for a request that has ended."""
    if (name != GIVEN["name"]) if GIVEN["name"] else request_type in SAFE:
        return
    line = {"start_s": start_time, "end_s": start_time + response_time / 1000, "outcome": outcome(response, exception)}
    lines.write(json.dumps(line) + "\n")


if GIVEN["post"]:

    class Poster(HttpUser):
        host = "{0.scheme}://{0.netloc}".format(urlsplit(GIVEN["post"]))

        @task
        def send(self):
            """Send one request, and end Locust after the last answer. If no request is left, end this user."""
            global unanswered
            if next(unsent, None) is None:
                raise StopUser
            try:
                with self.client.post(GIVEN["post"], catch_response=True, **SENT) as answer:
                    if answer.status_code and GIVEN["acknowledged"] not in answer.text:
                        answer.failure("not acknowledged")
            finally:
                unanswered -= 1
                if not unanswered:
                    gevent.spawn(self.environment.runner.quit)
