"""Test that every key of a scenario file is checked: its type, its limits, its name, and its conflicts with other keys."""

import dataclasses
import math
import os

import msgspec
import pytest

from app.locks import stages
from lab.errors import BadInput
from lab.scenario import reader
from lab.scenario.faults import faults
from lab.scenario.options import LONGEST_MS, OPTIONS
from lab.scenario.scenario import Scenario
from lab.servers.programs import nginx
from lab.text import thousands
from tests.every import every

BASE = {"title": "x", "tests": "exclusive"}
FREEZE = {"kind": "freeze", "for_ms": 900}
KILL_NODES = {"kind": "kill_nodes", "for_ms": 900}
RESTART = {"kind": "restart_nodes", "for_ms": 900}
HUGE = 10**20
NOT_A_NUMBER, ENDLESS = math.nan, math.inf
NAMES = {"needs": ["nodes"]}


def fault(**changed: object) -> dict:
    return {"faults": [FREEZE | changed]}


# The changes of a scenario file, and words of the refusal: the key, the value, and the allowed values. Each type and each
# kind of limit occurs once: `test_no_value_breaks_the_check` gives values of all types to all keys.
TABLES = [
    # a text
    ({"title": 5}, ["title", "one line of text", "not 5"]),
    ({"title": "  "}, ["title", "one line of text"]),
    ({"title": "two\nlines"}, ["title", "one line of text", r"'two\nlines'"]),
    ({"tests": 3}, ["tests", "a text in quotes", "not 3"]),
    ({"tests": "Exclusive"}, ["tests", "no claim 'Exclusive'", "'exclusive'"]),
    ({"cures": "../rush"}, ["cures", "no scenario '../rush'", "'rush'"]),
    ({"nested": "sam"}, ["nested", "no way of nesting 'sam'", "Did you mean 'same'?"]),
    ({"store_syncs": "everysecond"}, ["store_syncs", "no time to sync 'everysecond'", "Did you mean 'everysec'"]),
    # true or false
    ({"receipts": "no"}, ["receipts", "true or false", "not 'no'"]),
    # a number
    ({"requests": "many"}, ["requests", "a whole number", "at least 1", "not 'many'"]),
    ({"requests": 0}, ["requests", "at least 1", "not 0"]),
    ({"requests": 2.0}, ["requests", "a whole number", "not 2.0"]),
    ({"requests": True}, ["requests", "a whole number", "not True"]),
    ({"requests": HUGE}, ["requests", "at most 100\u2009000\u2009000", "not 100000000000000000000"]),
    ({"replicas": 100_000}, ["replicas", "at most", "on this machine", "not 100000"]),
    ({"processes": 65}, ["processes", "at most 64", "not 65"]),
    ({"rate": NOT_A_NUMBER}, ["rate", "a number, above 0", "not nan"]),
    ({"rate": ENDLESS}, ["rate", "at most 1\u2009000\u2009000", "not inf"]),
    ({"rate": 0}, ["rate", "above 0", "not 0"]),
    ({"ttl_ms": 0}, ["ttl_ms", "at least 1", "not 0"]),
    ({"ttl_ms": HUGE}, ["ttl_ms", f"at most {thousands(LONGEST_MS)}", "not 100000000000000000000"]),
    ({"store_nodes": 1000}, ["store_nodes", "at most 9", "not 1000"]),
    # lists and tables
    ({"needs": "guard"}, ["needs", "a list of texts", "not 'guard'"]),
    ({"needs": ["gaurd"]}, ["needs", "no need 'gaurd'", "Did you mean 'guard'"]),
    ({"nodes_away": [99]}, ["nodes_away names the server 99", "at most 5 servers"]),
    ({"nodes_away": [0]}, ["nodes_away", "each at least 1", "not [0]"]),
    (NAMES | {"nodes_away": [1, 2, 3, 4, 5]}, ["nodes_away", "stops every server", "leave at least one"]),
    ({"nodes_away": [4], "needs": ["ensemble"]}, ["nodes_away names the server 4", "at most 3 servers"]),
    ({"danger": 3}, ["danger", "a table of whole numbers", "not 3"]),
    ({"danger": {"handovers": 0}}, ["danger", "each at least 1"]),
    ({"danger": {"handover": 1}}, ["danger", "no measure 'handover'", "Did you mean 'handovers'"]),
    ({"faults": 3}, ["faults", "a list of tables", "not 3"]),
    # keys
    ({"usres": 3}, ["no key 'usres'", "Did you mean 'users'"]),
    # one fault
    ({"faults": [{"for_ms": 5}]}, ["a fault needs the key 'kind'", "freeze"]),
    ({"faults": [FREEZE | {"kind": 3}]}, ["kind", "a text in quotes", "not 3"]),
    (fault(kind="frieze"), ["no fault 'frieze'", "Did you mean 'freeze'"]),
    (fault(for_m=5), ["the fault freeze has no key 'for_m'", "Did you mean 'for_ms'"]),
    ({"faults": [{"kind": "freeze"}]}, ["the fault freeze needs the key 'for_ms'"]),
    (fault(for_ms=HUGE), ["the fault freeze: for_ms", "(a day)", "not 100000000000000000000"]),
    (fault(skip=-1), ["the fault freeze: skip", "at least 0", "not -1"]),
    (fault(skip=5001), ["the fault freeze: skip = 5001 is never reached with requests = 5000"]),
    (fault(at="read"), ["the fault freeze", "no failpoint 'read'", "read.after"]),
    (fault(at="raed.after"), ["the fault freeze", "no failpoint 'raed.after'", "Did you mean 'read.after'"]),
    (fault(at="write_again.before"), ["at = 'write_again.before' is never reached without receipts"]),
    ({"faults": [KILL_NODES | {"nodes": []}]}, ["the fault kill_nodes: nodes", "at least one", "not []"]),
    ({"faults": [KILL_NODES | {"nodes": 1}]}, ["the fault kill_nodes: nodes", "a list of whole numbers", "not 1"]),
    ({"faults": [KILL_NODES | {"nodes": [6]}]}, ["the fault kill_nodes: nodes names the server 6", "at most 5 servers"]),
    ({"faults": [RESTART | {"away": [4]}]}, ["the fault restart_nodes: away names the server 4", "add it to nodes_away"]),
    (
        NAMES | {"nodes_away": [3], "faults": [RESTART | {"nodes": [3]}]},
        ["the fault restart_nodes: nodes names the server 3", "nodes_away has stopped"],
    ),
    # keys that contradict each other
    ({"users": 3, "rate": 2.0}, ["users and rate exclude each other"]),
    ({"think_ms": 3, "rate": 2.0}, ["think_ms and rate exclude each other"]),
    ({"spawn_rate": 0}, ["spawn_rate must be a whole number, at least 1", "not 0"]),
    ({"seed": 3}, ["seed has no effect without rate"]),
    ({"connections": 3}, ["connections has no effect without rate"]),
    ({"connections": 2, "rate": 9.0, "processes": 3}, ["processes = 3 cannot share connections = 2"]),
    ({"store_syncs": "no"}, ["store_syncs = 'no'", "give store_persists = true as well"]),
    ({"users": 9, "requests": 5}, ["users = 9 cannot share requests = 5", "at most 5 users"]),
    ({"users": 2, "processes": 3}, ["processes = 3 cannot share users = 2"]),
    ({"requests": 2, "processes": 3}, ["3 Locust processes cannot share 2 requests"]),
    ({"stock": 60, "requests": 60}, ["stock = 60", "requests = 60"]),
    ({"ttl_ms": 10}, ["retry_ms = 30 is longer than ttl_ms = 10"]),
    ({"lease_ms": 300}, ["lease_ms = 300", 'needs = ["lease"]']),
    ({"receipts": True}, ["receipts = true", 'needs = ["writes"]']),
]


def refusal(table: dict) -> str:
    """Return the reason for which a table is refused."""
    with pytest.raises(BadInput) as refused:
        reader.parse("own", table, "own.toml")
    return str(refused.value)


@every("changed, words", TABLES)
def test_wrong_table_is_refused(changed, words):
    """A wrong table is refused in one line, with the file, the key, the value, and the allowed values."""
    said = refusal(BASE | changed)

    assert said.startswith("own.toml: ")
    assert [word for word in words if word not in said] == []
    assert "\n" not in said


@every("key", lambda: [spec.name for spec in dataclasses.fields(Scenario) if spec.name not in ("name", "notes")])
@every("value", [object, 3.5, -1, NOT_A_NUMBER, "", "x" * 5000, [[]], [{}], {"x": {}}, True, 10**400])
def test_no_value_breaks_the_check(key, value):
    """Whatever value a key has, the file is accepted, or refused in one short line."""
    said = ""
    try:
        reader.parse("own", BASE | {key: value}, "own.toml")
    except BadInput as refused:
        said = str(refused)

    assert said.startswith("own.toml: " if said else "")
    assert "\n" not in said
    assert len(said) < 7000  # a text of 5000 letters, and the names of all claims


@every("kind", faults)
@every("value", [NOT_A_NUMBER, [[]], {"x": {}}, 10**400])
def test_no_value_breaks_a_fault(kind, value):
    """Whatever value a fault's key has, the fault is accepted, or refused with its name and the key."""
    names = [spec.name for spec in msgspec.structs.fields(faults()[kind])]
    for name in names:
        said = refusal(BASE | {"faults": [{"kind": kind, "for_ms": 900} | {name: value}]})
        assert f"the fault {kind}" in said
        assert name in said or "failpoint" in said


def test_values_at_the_limits_are_accepted():
    """The largest danger, the last server, and two faults for a danger of two are accepted."""
    table = BASE | NAMES | {"requests": 60, "replicas": 3, "nodes_away": [5], "danger": {"faults": 2, "least_share_percent": 33}}
    table |= {"faults": [KILL_NODES | {"nodes": [4], "skip": 60}, RESTART | {"away": [5], "nodes": [3]}]}

    made = reader.parse("own", table, "own.toml")

    assert [one.for_ms for one in made.faults] == [900, 900]


def test_fault_at_no_server_of_a_stage():
    """A scenario does not fit a stage if its fault acts only on servers that the stage's store does not have."""
    made = reader.parse("own", BASE | {"faults": [KILL_NODES | {"nodes": [2, 3]}]}, "own.toml")

    assert made.misfit(stages()["redlock"]) is None
    assert (
        made.misfit(stages()["lua"])
        == "the fault kill_nodes of the scenario own acts on server 2, and the store of lua has 1 server"
    )


def test_replicas_of_this_machine(monkeypatch):
    """Memory and cores limit the number of replicas, but never below 16; in containers there is no such limit."""
    page, huge = os.sysconf("SC_PAGE_SIZE"), BASE | {"replicas": 100_000}
    monkeypatch.delenv("LAB_ENGINE", raising=False)
    for mib, cores, most in ((20 * 77, 8, 20), (8 << 10, 1, 50), (100, 1, 16)):
        monkeypatch.setattr(os, "sysconf", {"SC_PAGE_SIZE": page, "SC_PHYS_PAGES": (mib << 20) // page}.get)
        monkeypatch.setattr(os, "cpu_count", lambda cores=cores: cores)
        assert f"replicas must be at most {most} on this machine" in refusal(huge)

    monkeypatch.setenv("LAB_ENGINE", "compose")
    assert reader.parse("own", huge, "own.toml").replicas == 100_000


def test_users_have_connections():
    """A request takes two connections of nginx, so no scenario has more users."""
    assert 2 * OPTIONS["users"].most <= nginx.CONNECTIONS
