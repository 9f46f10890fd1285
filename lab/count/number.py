"""Read a number of a user's program: in Redis, in an SQL database, or from an address of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

from lab.errors import BadInput, NotReady, choose_from

LONGEST_S = 10  # the time limit of one reading
COMMANDS = ("get", "hget", "hlen", "llen", "scard", "strlen", "xlen", "zcard")  # commands of Redis that only read a number
DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}  # the names of the drivers in SQLAlchemy


def reader(url: str) -> Callable[[], int]:
    """Return a function that reads the number at an address. Raises BadInput; the function raises NotReady and BadInput.

    url: ``redis://HOST/DB?get=KEY`` (or another of COMMANDS, with its arguments in turn), ``postgresql://…?query=SELECT …``,
    ``mysql://…?query=SELECT …``, or ``http://HOST/PATH``: a page that is a number, or JSON with the number at ``#a.b``.
    """
    parts = urlsplit(url)
    kinds: dict[str, Callable[[SplitResult, dict[str, str]], Callable[[], Any]]] = dict.fromkeys(("redis", "rediss"), _of_redis)
    kinds |= dict.fromkeys(DRIVERS, _of_sql) | dict.fromkeys(("http", "https"), _of_page)
    ask = kinds[choose_from("scheme of --read", parts.scheme, kinds)](parts, dict(parse_qsl(parts.query)))
    address = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()  # without a password

    def read() -> int:
        try:
            value = ask()
        except Exception as error:  # each client has errors of its own, and all mean the same here
            raise NotReady(f"{address} cannot be read: {str(error) or type(error).__name__}") from error
        try:
            return int(0 if value is None else value)  # a missing key is 0, as for INCR
        except (TypeError, ValueError):
            raise BadInput(f"{address} is not a whole number: {str(value)[:80]!r}") from None

    return read


def _of_redis(parts: SplitResult, query: dict[str, str]) -> Callable[[], Any]:
    import redis

    command = choose_from("command of --read", next(iter(query), ""), COMMANDS)
    client = redis.Redis.from_url(parts._replace(query="").geturl(), socket_timeout=LONGEST_S)
    return lambda: client.execute_command(command.upper(), *query.values())


def _of_sql(parts: SplitResult, query: dict[str, str]) -> Callable[[], Any]:
    import sqlalchemy

    select = query.pop("query", "")
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
