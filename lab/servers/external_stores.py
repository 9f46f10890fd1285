"""Stores that are not the lab's own, given as ``LAB_REDIS_URL=redis://user:password@host:6379/0``
and the like.

The lab does not start or stop such a server, changes none of its settings and flushes nothing. It
deletes only its own keys, which all begin with ``lab:<run>:``, where it can recognise them. An
address is passed to the replicas and is written to no file.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable, Mapping

from app.lock import Stage
from app.settings import Address, Endpoint
from lab.errors import BadInput
from lab.scenario.fault import Place, Target
from lab.scenario.scenario import Scenario

BATCH = 500
# a fault of a replica leaves the store alone; no other fault can be undone on a store of somebody else
PLACE = Place(
    closed=dict.fromkeys((Target.SESSION, Target.NETWORK, Target.COUNTER, Target.STORE), "the store is not the lab's own")
)


def urls(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return the addresses of outside stores, by store. Raises BadInput for an address that cannot
    be parsed, without quoting it.
    """
    names = ("redis", "redis_nodes", "zookeeper", "etcd", "mysql", "postgresql")
    given = {name: environ[f"LAB_{name.upper()}_URL"] for name in names if environ.get(f"LAB_{name.upper()}_URL")}
    for name, text in given.items():
        try:
            Endpoint.parse(text)
        except ValueError as error:
            raise BadInput(
                f"LAB_{name.upper()}_URL: {error}; write [scheme://][user[:password]@]host:port[,…][/database]"
            ) from None
    return given


def refuse(stage: Stage, scenario: Scenario, given: Mapping[str, str]) -> None:
    """Refuse a scenario that breaks a store which is not the lab's own, or needs one of another shape. Raises BadInput."""
    if stage.store is None or stage.store not in given:
        return
    breaks = PLACE.refusals(scenario.faults)
    shapes = [name for name in ("store_persists", "store_replica", "store_clocks", "nodes_away") if getattr(scenario, name)]
    if breaks or shapes:
        what = ", ".join((*breaks, *shapes))
        raise BadInput(f"{scenario.name} needs a store of the lab's own ({what}); unset LAB_{stage.store.upper()}_URL for it")


def note(stage: Stage, given: Mapping[str, str]) -> tuple[str, ...]:
    """Return the sentences that a run over such a store adds to its notes."""
    if stage.store is None or stage.store not in given:
        return ()
    named = f"the one that LAB_{stage.store.upper()}_URL names"
    return (f"the lock's store is {named}, not the lab's own; what it carries out is not counted",)


def refuse_silence(stores: Iterable[str], given: Mapping[str, str]) -> None:
    """Check that each outside store accepts connections before anything is started. Raises
    BadInput, without a password.
    """
    for name in given.keys() & set(stores):
        addresses = Endpoint.parse(given[name]).addresses
        if not any(_listens(one) for one in addresses):
            where = ", ".join(map(str, addresses))
            raise BadInput(f"LAB_{name.upper()}_URL: no server listens at {where}; unset it to use a store of the lab's own")


def _listens(address: Address) -> bool:
    try:
        socket.create_connection((address.host, address.port), timeout=2.0).close()
    except OSError:
        return False
    return True


def take_away(store: str, url: str, run: str) -> None:
    """Delete the keys of a run from an outside Redis, and nothing else. In other stores the stages' keys stay."""
    if store != "redis":
        return
    import redis

    from app.stores.redis import Redis, client

    endpoint = Endpoint.parse(url)
    asking = client(Redis, endpoint, endpoint.first)
    try:
        for key in asking.scan_iter(match=f"lab:{run}:*", count=BATCH):
            asking.delete(key)
    except redis.RedisError:
        return  # the server has ended: nothing can be deleted
    finally:
        asking.close()
