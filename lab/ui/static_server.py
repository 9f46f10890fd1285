"""``lab serve``: the site of runs at an address of this machine.

It serves only files below ``reports``, wherever a path or a link points to, only to this machine,
and only under this machine's own names: a page of another site whose name resolves to this machine
gets nothing.
"""

from __future__ import annotations

import html
import os
import re
import sys
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import unquote, urlsplit

from lab.errors import BadInput, ExitStatus
from lab.interrupts import interruptible
from lab.language import NAMES as TAGS
from lab.language import Language
from lab.paths import REPORTS
from lab.report import site
from lab.report.html import page
from lab.report.run_page import draw_if_missing
from lab.story import say

HERE = "127.0.0.1"
NAMES = (HERE, "localhost")
BODY = re.compile(rb"<body[^>]*>")


def serve(port: int, reports: Path = REPORTS) -> int:
    """Write the site and serve it until an interrupt. Return the exit status. Raises BadInput when
    the port is not available.
    """
    site.write(reports)
    try:
        server = Site(reports, port)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadInput(f"port {port} of {HERE} is not available: {why}; choose another with --port (0: any free port)") from None
    with server:
        sys.stdout.write(f"{server.address}  shows the runs in {reports}/ until Ctrl-C\n")
        sys.stdout.flush()
        try:
            with interruptible():
                server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            sys.stderr.write("\nstopped; nothing is left running\n")
    return ExitStatus.GOOD


class Site(ThreadingHTTPServer):
    """A server of one folder, on loopback unless another host is given. names: the accepted Host
    names, any if empty.
    """

    daemon_threads = True
    request_queue_size = 128  # a class opens the page at the same moment

    def __init__(
        self, folder: Path, port: int, host: str = HERE, handler: type[SiteHandler] | None = None, names: tuple[str, ...] = NAMES
    ) -> None:
        self.folder, self.names = folder.resolve(), names
        super().__init__((host, port), handler or SiteHandler)

    @property
    def address(self) -> str:
        return f"http://{HERE}:{self.server_port}"

    def ways(self) -> dict[str, str]:
        """Return the addresses of the main pages that there are, by their names in the table ``site_way`` of the words."""
        ways = {"runs": f"/{site.INDEX}", "matrix": f"/{site.INDEX}#matrix"} if self.file("/") else {}
        kept = f"/{site.REFERENCE}/matrix/"
        ways |= {"matrix": f"{kept}{site.INDEX}"} if self.file(kept) else {}
        return ways | ({"play": f"/{site.PLAY}/{site.INDEX}"} if self.file(f"/{site.PLAY}/") else {})

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a browser that disconnects in the middle; report any other error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def file(self, path: str) -> Path | None:
        """Return the file at an address; None if it is outside the folder, or hidden, as unfinished runs are."""
        names = [name for name in unquote(urlsplit(path).path).split("/") if name]
        if "\0" in path or any(name.startswith(".") or "\\" in name or "\0" in name for name in names):
            return None
        draw_if_missing(self.folder.joinpath(*names))  # a run that is drawn in another language
        try:
            found = self.folder.joinpath(*names).resolve(strict=True)
            found = (found / site.INDEX).resolve(strict=True) if found.is_dir() else found
        except (OSError, RuntimeError):  # it does not exist, or its links form a circle
            return None
        inside = found.is_relative_to(self.folder) and not any(
            part.startswith(".") for part in found.relative_to(self.folder).parts
        )
        return found if inside and found.is_file() else None


class SiteHandler(SimpleHTTPRequestHandler):
    """Answers one connection: GET and HEAD of a file."""

    server: Site
    protocol_version = "HTTP/1.1"
    timeout = 30

    def send_head(self) -> Any:
        """Send the answer's head and return the open file; None if the request is refused."""
        host = (self.headers.get("Host") or "").rpartition(":")[0] or self.headers.get("Host")
        if self.server.names and host not in self.server.names:
            return self._refuse(HTTPStatus.MISDIRECTED_REQUEST, f"the Host must be {' or '.join(self.server.names)}")
        found = self.server.file(self.path)
        if found is None:
            return self._no_page()
        address = urlsplit(self.path).path
        if found.name == site.INDEX and not address.endswith(("/", site.INDEX)):
            return self._to(address + "/")  # without the slash, relative links would be wrong
        return self._give(found)

    def _give(self, path: Path) -> BinaryIO:
        kind = self.guess_type(path)
        file: BinaryIO = path.open("rb")
        if kind == "text/html":
            with file:
                file = BytesIO(with_ways(file.read(), self.server.ways()))
        size = file.seek(0, os.SEEK_END)
        file.seek(0)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", f"{kind}; charset=utf-8" if kind.startswith("text/") else kind)
        self.send_header("Content-Length", str(size))
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        return file

    def _no_page(self) -> BinaryIO:
        says = {language: say.text("site_way", "no_page", language) for language in Language}
        content = with_ways(page("no_page.html", says=says).encode(), self.server.ways())
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        return BytesIO(content)

    def _to(self, address: str) -> None:
        self.send_response(HTTPStatus.MOVED_PERMANENTLY)
        self.send_header("Location", "/" + address.lstrip("/"))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.send_error(status, explain=why)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Log nothing: it is private which pages a visitor reads."""


def with_ways(content: bytes, ways: Mapping[str, str]) -> bytes:
    """Return a page with links to the main pages at its top. The page itself is a file that knows no address.

    They are there in both languages, as a level is one page for both: lab.css shows those of the page's language.
    """
    navs = "".join(_nav(ways, language) for language in Language) if ways else ""
    return BODY.sub(lambda found: found[0] + navs.encode(), content, count=1)


def _nav(ways: Mapping[str, str], language: Language) -> str:
    said = partial(say.text, "site_way", language=language)
    links = "".join(f'<a href="{html.escape(address)}">{html.escape(said(name))}</a>' for name, address in ways.items())
    return f'\n<nav class="site ways" lang="{TAGS[language].tag}" aria-label="{said("ways")}">{links}</nav>'
