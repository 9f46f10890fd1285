"""The two ways of counting agree on any history, not only on those we thought of."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.judge.losses import Ledger


@st.composite
def schedules(draw) -> list[tuple[int, str]]:
    """Any interleaving of the reads and writes of some requests: (request, step) in the order of the store."""
    requests = draw(st.integers(1, 12))
    steps = [(request, step) for request in range(requests) for step in ("read", "write")]
    order = draw(st.permutations(steps))
    seen: set[int] = set()
    legal = []
    for request, _ in order:  # whichever comes first is the read
        legal.append((request, "write" if request in seen else "read"))
        seen.add(request)
    return legal


@given(schedules(), st.integers(0, 100))
def test_destroyed_is_what_is_missing(schedule, start):
    """The sum of what writes destroyed is what is missing."""
    value, read, ledger = start, {}, Ledger(start)
    for request, step in schedule:
        if step == "read":
            read[request] = value
        else:
            ledger.write(read[request] + 1, value)
            value = read[request] + 1

    account = ledger.close(value, intended=[])

    assert account.disagreement is None
    assert account.lost == account.destroyed == account.writes - (value - start)
    assert 0 <= account.lost < account.writes


@pytest.mark.parametrize(("intended", "agrees"), [([None], True), ([], False)])
def test_unconfirmed_write_of_one_command(intended, agrees):
    """A write that adds to any value may have been applied, although its journal does not know which value it left."""
    ledger = Ledger(0)
    ledger.write(1, 0)
    ledger.write(3, 2)

    account = ledger.close(3, intended)

    assert (account.writes, account.lost, account.applied_unknowns) == (3, 0, 1)
    assert (account.disagreement is None) is agrees


@given(schedules(), st.integers(0, 100), st.data())
def test_unconfirmed_writes_are_found(schedule, start, data):
    """Some replicas die between the store's answer and their line: the judge separates what it can, and the rest adds up."""
    died = data.draw(st.sets(st.sampled_from(sorted({request for request, _ in schedule}))))
    value, read, ledger, intended = start, {}, Ledger(start), []
    for request, step in schedule:
        if step == "read":
            read[request] = value
            continue
        if request in died:
            intended.append(read[request] + 1)
        else:
            ledger.write(read[request] + 1, value)
        value = read[request] + 1

    account = ledger.close(value, intended)

    assert account.disagreement is None
    assert account.lost == account.destroyed
    assert account.applied_unknowns <= len(died)


def test_ledger_stays_small():
    """The ledger stays small when nothing is lost."""
    ledger = Ledger(0)
    for value in range(10_000):
        ledger.write(value + 1, value)

    assert len(ledger._balance) == 1
