"""redilock's lock with a colon in its name: no release finds it.

**Idea** The token is the name and a secret with a colon between them, and the release cuts it at the first colon.
"""

import runpy

from app.foreign.declared import declared
from app.foreign.library import LIBRARIES, Quote, ReportedFailure

README = "https://github.com/zferentz/python-redilock/blob/main/README.md"
use = runpy.run_path(str(LIBRARIES / "pypi_redilock.py"))["use"]

FAILURE = ReportedFailure(
    link=README,
    what="A lock whose name has a colon stays until its TTL is over: each release is refused.",
    package="python-redilock",
    version="0.6.0",
    promises={
        "exclusive": Quote(
            "A lock (a.k.a Mutex) is a code facility that acts as a gatekeeper and allows only one task to access a resource.",
            README,
        ),
        "serves_most_requests": Quote(
            "You should not rely on it for unlocking as your code should either unlock using the `unlock` function or via "
            "`with statement`.",
            README,
        ),
    },
    scenario="rush",
    options={"requests": 60, "users": 20},
    breaks="serves_most_requests",
    by="too_many_refused",
)
STAGE = FAILURE.stage(lock=declared(use), store="redis", ttl_ms=3000, environment="redilock")
