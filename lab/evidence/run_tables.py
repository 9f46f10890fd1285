"""Those tables of ``run.json`` that have a type of their own."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Natural = Annotated[int, msgspec.Meta(ge=0, le=10**15)]
Time = Annotated[float, msgspec.Meta(ge=0, le=10**15)]


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
