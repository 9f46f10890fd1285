"""The addresses of the pages: a port that is free, the address for phones, and its QR code."""

from __future__ import annotations

import contextlib
import errno
import socket

from lab.errors import BadInput
from lab.servers.ports import free_port
from lab.ui.both_sides import LOOPBACK

PAGE_PORT, LOCUST_PORT = 8090, 8089
CLASS = 128  # connections that wait: a class opens the page at the same moment
TRIED = 10  # how many ports are tried, from the usual one on, before the system chooses any
VOTE = "/vote"  # the page as phones see it
PROJECTOR = "/projector"  # the page as the class sees it on the wall, without buttons
JOIN = "/join"  # the page on which a phone types the word of the class
NOWHERE = ("192.0.2.1", 9)  # an address that is reserved for documentation


def ports(host: str, page: int | None, locust: int | None) -> tuple[int, int]:
    """Return the ports of the lab's page and of Locust's: two that are free at the same moment.

    page, locust: the wanted port, or 0 for any free one. None: the usual one, or another if that is taken. Raises BadInput
    if a wanted port is not available, or the host is none of this machine.
    """
    with contextlib.ExitStack() as held:  # the first port stays taken while the second is chosen
        first = held.enter_context(_held(host, page, PAGE_PORT, "--port"))
        second = held.enter_context(_held(host, locust, LOCUST_PORT, "--locust-port"))
        return first.getsockname()[1], second.getsockname()[1]


def _held(host: str, port: int | None, usual: int, option: str) -> socket.socket:
    if port is not None:
        return listening(host, port or free_port(page=True), option)
    for one in range(usual, usual + TRIED):
        with contextlib.suppress(PortTaken):
            return listening(host, one, option)
    return listening(host, free_port(page=True), option)


class PortTaken(BadInput):
    """The port is not available."""


def listening(host: str, port: int, option: str) -> socket.socket:
    """Return a socket that listens there. port: 0 for any free one. Raises BadInput, which names the option to change."""
    found = socket.socket()
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(CLASS)  # two sockets may be bound to one port until one of them listens
    except OSError as error:
        found.close()
        raise _not_available(host, port, option, error) from None
    return found


def _not_available(host: str, port: int, option: str, error: OSError) -> BadInput:
    if isinstance(error, socket.gaierror):
        return BadInput(f"--host: there is no address {host}")
    if error.errno == errno.EADDRNOTAVAIL:
        return BadInput(f"--host: this machine does not have the address {host}")
    why = (error.strerror or str(error)).lower()
    return PortTaken(f"port {port} of {host} is not available: {why}; choose another with {option} (0: any free port)")


def from_here(host: str) -> str:
    """Return a name under which this machine itself reaches a server that listens on this host."""
    return "127.0.0.1" if host in ("0.0.0.0", "") else host  # noqa: S104 - compared, not listened on


def from_elsewhere(host: str) -> str:
    """Return a name under which other machines reach a server that listens on this host; empty if they do not."""
    if host in LOOPBACK:
        return ""
    if host not in ("0.0.0.0", ""):  # noqa: S104 - compared, not listened on
        return host
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(NOWHERE)  # sends nothing: the system only chooses the address that it would send from
        except OSError:  # no network
            return ""
        found: str = probe.getsockname()[0]
        return found


def joining(page: str) -> str:
    """Return the address at which a visitor types the word of the class, to go on to a page."""
    return f"{JOIN}?then={PROJECTOR}" if page == PROJECTOR else JOIN


def qr_code(address: str) -> str:
    """Return the QR code of an address as SVG, dark on light in each colour scheme."""
    import segno

    code: str = segno.make_qr(address, error="m").svg_inline(scale=4, border=4, light="#fff", dark="#000", omitsize=True)
    return code
