"""What in ``run.json`` has a type of its own: its ending, its tables, and the clients that it lists."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any

import msgspec

Natural = Annotated[int, msgspec.Meta(ge=0, le=10**15)]
Time = Annotated[float, msgspec.Meta(ge=0, le=10**15)]


class Ending(Enum):
    """How a run ended. All but the first cut it short."""

    COMPLETE = "complete"
    # Ctrl-C, SIGTERM, or a closed terminal
    INTERRUPTED = "interrupted"
    # the process that supervises the servers was killed: the lab has ended them all
    UNSUPERVISED = "unsupervised"
    # by hand, in Locust's page
    STOPPED = "stopped"
    LOAD_FAILED = "load_failed"
    SERVER_LOST = "server_lost"
    # a part of the evidence could not be written
    NOT_WRITTEN = "not_written"
    FAILED = "failed"

    @property
    def is_interrupt(self) -> bool:
        """Return whether an interrupt ended the run: then nothing is waited for."""
        return self in (Ending.INTERRUPTED, Ending.UNSUPERVISED)


class ScenarioTable(msgspec.Struct):
    """What must be in the table of the scenario. Older runs may lack the keys that have a default."""

    name: str
    title: str
    tests: str
    requests: Natural
    users: Natural
    replicas: Natural
    retry_ms: Time
    work_ms: Time
    rate: Time | None
    ttl_ms: Natural | None
    danger: dict[str, Natural]
    nested: str = ""
    store_persists: bool = False
    store_syncs: str = "always"
    wait_ms: Time = 0
    lease_ms: Natural | None = None
    stock: Natural | None = None
    store_nodes: Natural = 1
    store_replica: bool = False
    faults: list[dict[str, Any]] = []
    notes: list[str] = []


class StageTable(msgspec.Struct):
    """What must be in the table of the stage."""

    name: str
    store: str | None
    claims: list[str]
    idea: str = ""
    resource: str = ""
    ttl_ms: Natural | None = None


def check(scenario: dict[str, Any], stage: dict[str, Any]) -> None:
    """Raise msgspec.ValidationError where a key is missing or has a wrong type; the message names its table."""
    for name, table, kind in (("scenario", scenario, ScenarioTable), ("stage", stage, StageTable)):
        try:
            msgspec.convert(table, kind)
        except msgspec.ValidationError as error:
            raise msgspec.ValidationError(f"in its table {name}: {error}") from None


class ClientFacts(msgspec.Struct, frozen=True):
    """A connection that was open when the run ended."""

    # its port on the client's side
    port: int
    # the name that it gave itself; most give none
    name: str = ""
    # the last command that it sent
    command: str = ""
