"""``lab serve``: the site of runs at an address of this machine.

It serves only files below ``reports``, wherever a path or a link points to, only to this machine,
and only under this machine's own names: a page of another site whose name resolves to this machine
gets nothing.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Mapping
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Self

from flask import Flask, Response, abort, redirect, request, send_from_directory
from markupsafe import Markup
from werkzeug.exceptions import HTTPException
from werkzeug.serving import WSGIRequestHandler, make_server

from app.origin import foreign
from lab.errors import ExitStatus
from lab.interrupts import interruptible
from lab.language import NAMES as TAGS
from lab.language import Language
from lab.paths import REPORTS
from lab.report import site
from lab.report.html import page
from lab.report.run_page import draw_if_missing
from lab.story import say
from lab.ui.addresses import listening
from lab.ui.both_sides import LOOPBACK

BODY = re.compile(r"<body[^>]*>")
NAV = Markup('\n<nav class="site ways" lang="{tag}" aria-label="{label}">{links}</nav>')
LINK = Markup('<a href="{}">{}</a>')


def serve(port: int, reports: Path = REPORTS) -> int:
    """Write the site and serve it until an interrupt. Return the exit status. Raises BadInput when
    the port is not available.
    """
    site.write(reports)
    with closing(Site(reports, port).start()) as server:
        sys.stdout.write(f"{server.address}  shows the runs in {reports}/ until Ctrl-C\n")
        sys.stdout.flush()
        with suppress(KeyboardInterrupt), interruptible():
            threading.Event().wait()
    sys.stderr.write("\nstopped; nothing is left running\n")
    return ExitStatus.GOOD


class Connection(WSGIRequestHandler):
    """Answers one connection. It logs nothing: it is private which pages a visitor reads."""

    timeout = 30  # seconds in which a browser has to send or take something
    wbufsize = 1 << 16  # an event is one packet
    disable_nagle_algorithm = True

    def log(self, type: str, message: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Log nothing. An error in an answer is logged by its server."""


class Site:
    """The files of one folder as a Flask application, and its server. Raises BadInput without the port.

    host: the address to listen on. names: the accepted Host names, any if empty.
    """

    def __init__(self, folder: Path, port: int, host: str = LOOPBACK[0], names: tuple[str, ...] = LOOPBACK) -> None:
        self.folder = folder.resolve()
        self.app = app = Flask(__name__, static_folder=None)
        app.config["TRUSTED_HOSTS"] = list(names) or None
        app.url_map.merge_slashes = False
        app.before_request(self.admit)
        app.after_request(self.complete)
        app.register_error_handler(404, self.no_page)
        app.add_url_rule("/", "first", self.first)
        app.add_url_rule("/<path:path>", "file", self.give)
        with listening(host, port, "--port") as taken:
            self._server = make_server(host, port, app, threaded=True, request_handler=Connection, fd=taken.fileno())
        self.port = self._server.port
        self.address = f"http://{LOOPBACK[0]}:{self.port}"

    def start(self) -> Self:
        """Serve until it is closed, each connection in a thread of its own."""
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def close(self) -> None:
        """Stop serving."""
        self._server.shutdown()

    def admit(self) -> None:
        """Refuse a request that a page of another site makes a browser send."""
        if why := foreign(request):
            abort(403, why)

    def complete(self, response: Response) -> Response:
        """Add the headers that every answer has."""
        response.headers["X-Content-Type-Options"] = "nosniff"
        return response

    def first(self) -> Any:
        """Answer the address without a path."""
        return self.give("")

    def give(self, path: str) -> Any:
        """Answer the address of a file, or of a folder with a page."""
        if (found := self.file(path)) is None:
            abort(404)
        if found.name == site.INDEX and path and not path.endswith(("/", site.INDEX)):
            return redirect(f"/{path}/", 301)  # without the slash, relative links would be wrong
        answer = send_from_directory(self.folder, found.relative_to(self.folder), conditional=False, etag=False)
        if answer.mimetype == "text/html":
            answer.direct_passthrough = False
            answer.set_data(with_ways(answer.get_data(as_text=True), self.ways()))
        return answer

    def no_page(self, _: HTTPException) -> tuple[str, int]:
        """Answer an address without a file."""
        says = {language: say.text("site_way", "no_page", language) for language in Language}
        return with_ways(page("no_page.html", says=says), self.ways()), 404

    def ways(self) -> dict[str, str]:
        """Return the addresses of the main pages that there are, by their names in the table ``site_way`` of the words."""
        ways = {"runs": f"/{site.INDEX}", "matrix": f"/{site.INDEX}#matrix"} if self.file("") else {}
        kept = f"{site.REFERENCE}/matrix/"
        ways |= {"matrix": f"/{kept}{site.INDEX}"} if self.file(kept) else {}
        return ways | ({"play": f"/{site.PLAY}/{site.INDEX}"} if self.file(site.PLAY) else {})

    def file(self, path: str) -> Path | None:
        """Return the file at an address; None if it is outside the folder, or hidden, as unfinished runs are."""
        try:
            found = (self.folder / path).resolve()
            if self._gives(found):
                draw_if_missing(found)  # a run that is drawn in another language
            found = (found / site.INDEX).resolve() if found.is_dir() else found
        except (OSError, RuntimeError, ValueError):  # its links form a circle, or it is no name of a file
            return None
        return found if self._gives(found) and found.is_file() else None

    def _gives(self, found: Path) -> bool:
        return found.is_relative_to(self.folder) and "/." not in f"/{found.relative_to(self.folder)}"


def with_ways(content: str, ways: Mapping[str, str]) -> str:
    """Return a page with links to the main pages at its top. The page itself is a file that knows no address.

    The links are there in both languages, as a level is one page for both: lab.css shows the links of the page's language.
    """
    navs = "".join(_nav(ways, language) for language in Language) if ways else ""
    return BODY.sub(lambda found: found[0] + navs, content, count=1)


def _nav(ways: Mapping[str, str], language: Language) -> str:
    phrase = partial(say.text, "site_way", language=language)
    links = Markup().join(LINK.format(address, phrase(name)) for name, address in ways.items())
    return NAV.format(tag=TAGS[language].tag, label=phrase("ways"), links=links)
