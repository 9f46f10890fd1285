"""A fault is one file: with its declarations alone it runs, is judged, and is refused by name where it cannot work."""

import dataclasses

import pytest

from app.locks import stage
from lab.containers.cluster import refuse as refuse_in_containers
from lab.errors import BadInput
from lab.scenario import faults as shelf
from lab.servers.stores import refuse
from tests.new_fault import KIND, with_new_fault


def refused(refuse, *given) -> str:
    """Return why something is refused; empty if it is not."""
    try:
        refuse(*given)
    except BadInput as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("target", "containers", "containers_without_host"),
    [
        ("REPLICA", True, True),
        ("SESSION", True, True),
        ("NETWORK", True, False),
        ("STORE", True, False),
    ],
)
def test_target_decides_where_it_works(new_fault, target, containers, containers_without_host):
    """The target of a new fault decides where it works."""
    new_fault(target)
    one, lua = with_new_fault("renewal_stalls"), stage("lua")

    words = [
        refused(refuse, lua, one),
        refused(refuse_in_containers, lua, one, True),
        refused(refuse_in_containers, lua, one, False),
    ]

    assert [why == "" for why in words] == [True, containers, containers_without_host]
    assert all(KIND in why for why in words if why)


@pytest.mark.parametrize(
    ("needs", "one", "other"),
    [("Need.LEADER,", "etcd", "lua"), ("Need.SESSIONS,", "zookeeper", "lua"), ("Need.CLOCKS,", None, "lua")],
)
def test_needs_decide_the_stages(new_fault, needs, one, other):
    """The needs of a new fault decide on which stages it works."""
    new_fault("STORE", needs)
    scenario = with_new_fault("renewal_stalls")

    assert refused(refuse, stage(other), scenario).startswith(f"renewal_stalls cannot inject the fault {KIND}")
    if one is None:
        scenario, one = dataclasses.replace(scenario, store_clocks=True), other
    assert refused(refuse, stage(one), scenario) == ""


def test_no_store_no_store_fault(new_fault):
    """A stage without a store has no fault of the store."""
    new_fault("STORE")

    assert "local has no store" in refused(refuse, stage("local"), with_new_fault("renewal_stalls"))


def test_incomplete_fault_is_named(new_fault, tmp_path):
    """A fault that declares too little is named."""
    new_fault("STORE")
    file = tmp_path / "shelf" / f"{KIND}.py"
    text = file.read_text(encoding="utf-8").replace("    effect = Effect.STORE_SILENT\n", "")
    file.write_text(text, encoding="utf-8")

    with pytest.raises(TypeError, match=f"{KIND} must declare effect"):
        shelf.faults()
