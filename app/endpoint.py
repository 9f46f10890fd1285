"""The address of a store as one text: ``[scheme://][user[:password]@]host:port[,host:port…][/database]``."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Address:
    """A server's host and port, written ``host:port``."""

    host: str
    port: int

    @staticmethod
    def parse(text: str) -> Address:
        """Read ``host:port``. Raises ValueError."""
        host, separator, port = text.rpartition(":")
        if not separator or not host or not (port.isascii() and port.isdigit() and len(port) < 6) or not 0 < int(port) < 65536:
            raise ValueError("that is not host:port")
        return Address(host, int(port))

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One server or several, with user and password. No text that is made of an endpoint contains the password."""

    addresses: tuple[Address, ...]
    scheme: str = ""
    user: str = ""
    password: str = field(default="", repr=False)
    database: str = ""

    @staticmethod
    def parse(text: str) -> Endpoint:
        """Read the text. Raises ValueError; its message quotes nothing that may be a password."""
        scheme, _, place = text.rpartition("://")
        account, _, where = place.rpartition("@")
        hosts, _, database = where.partition("/")
        user, _, password = account.partition(":")
        return Endpoint(tuple(Address.parse(part) for part in hosts.split(",")), scheme, user, password, database)

    @property
    def first(self) -> Address:
        """The first server: the only one for most stores."""
        return self.addresses[0]
