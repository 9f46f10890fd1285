"""Read a number of a user's program: in Redis, in an SQL database, or from an address of the program."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Collection
from decimal import Decimal
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from lab.errors import BadInput, NotReady, choose_from

LONGEST_S = 10  # the time limit of one reading
COMMANDS = ("get", "hget", "hlen", "llen", "scard", "strlen", "xlen", "zcard")  # commands of Redis that only read a number
DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}  # the names of the drivers in SQLAlchemy


def allowed(url: str, option: str, hosts: Collection[str]) -> SplitResult:
    """Return the parts of an address. Raises BadInput without a host, or if it is neither this machine nor one of ``hosts``."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        infos = socket.getaddrinfo(host, None) if host else []
    except (OSError, ValueError) as error:
        raise BadInput(f"{option} {url}: {error}") from None
    if not infos:
        raise BadInput(f"{option} {url}: an address begins with its scheme and its host, as in http://127.0.0.1:8000/buy")
    if host not in hosts and not all(ipaddress.ip_address(str(info[4][0])).is_loopback for info in infos):
        raise BadInput(f"{option}: {host} is another machine. If its owner agrees to a heavy load, add --allow-host {host}")
    return parts


def reader(url: str, hosts: Collection[str]) -> Callable[[], int]:
    """Return a function that reads the number at an address. Raises BadInput; the function raises NotReady and BadInput.

    url: ``redis://HOST/DB?get=KEY`` (or another of COMMANDS, with its arguments in turn), ``postgresql://…?query=SELECT …``,
    ``mysql://…?query=SELECT …``, or ``http://HOST/PATH``: a page that is a number, or JSON with the number at ``#a.b``.
    """
    parts = allowed(url, "--read", hosts)
    kinds: dict[str, Callable[[SplitResult, dict[str, str]], Callable[[], Any]]] = dict.fromkeys(("redis", "rediss"), _of_redis)
    kinds |= dict.fromkeys(DRIVERS, _of_sql) | dict.fromkeys(("http", "https"), _of_page)
    ask = kinds[choose_from("scheme of --read", parts.scheme, kinds)](parts, dict(parse_qsl(parts.query)))
    address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()  # without a password

    def read() -> int:
        try:
            value = ask()
        except Exception as error:  # each client has errors of its own, and all mean the same here
            raise NotReady(f"{address} cannot be read: {str(error) or type(error).__name__}") from error
        try:  # a missing key is 0, as for INCR
            number = Decimal(value.decode() if isinstance(value, bytes) else str(0 if value is None else value))
            if number == int(number):
                return int(number)
        except (ArithmeticError, ValueError):
            pass
        raise BadInput(f"{address} is not a whole number: {str(value)[:80]!r}")

    return read


def _of_redis(parts: SplitResult, query: dict[str, str]) -> Callable[[], Any]:
    import redis

    command = choose_from("command of --read", next(iter(query), ""), COMMANDS)
    client = redis.Redis.from_url(parts._replace(query="").geturl(), socket_timeout=LONGEST_S)
    return lambda: client.execute_command(command.upper(), *query.values())


def _of_sql(parts: SplitResult, query: dict[str, str]) -> Callable[[], Any]:
    import sqlalchemy

    select = query.pop("query", "")
    if not re.match(r"\s*select\b", select, re.IGNORECASE):
        raise BadInput("--read: a database is read by a query that begins with select, as in ?query=select sold from item")
    address = parts._replace(scheme=DRIVERS[parts.scheme], query=urlencode(query)).geturl()
    engine = sqlalchemy.create_engine(address, connect_args={"connect_timeout": LONGEST_S})

    def ask() -> Any:
        with engine.connect() as connection:
            return connection.execute(sqlalchemy.text(select)).scalar_one()

    return ask


def _of_page(parts: SplitResult, _query: dict[str, str]) -> Callable[[], Any]:
    import requests

    session = requests.Session()
    session.trust_env = False  # no proxy of the environment is used

    def ask() -> Any:
        answer = session.get(parts._replace(fragment="").geturl(), timeout=LONGEST_S)
        answer.raise_for_status()
        value: Any = answer.json() if parts.fragment else answer.text.strip()
        for name in filter(None, parts.fragment.split(".")):
            value = value[int(name) if isinstance(value, list) else name]
        return value

    return ask
