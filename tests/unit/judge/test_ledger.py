"""The two ways of counting agree on any history, not only on those we thought of."""

from collections.abc import Collection, Iterator
from itertools import combinations

import pytest

from lab.judge.losses import Account, Ledger

START = 3


def schedules(requests: int, turns: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield every order of the steps of some requests: the first of each is its read, the second its write.

    Names do not matter: the requests are numbered in the order of their reads.
    """
    if len(turns) == 2 * requests:
        yield turns
    for one in range(min(len({*turns}) + 1, requests)):
        if turns.count(one) < 2:
            yield from schedules(requests, (*turns, one))


def counted(schedule: tuple[int, ...], died: Collection[int] = ()) -> tuple[Account, int]:
    """Return the account of a schedule, and the counter's end. died: replicas between the store's answer and their line."""
    value, read, ledger, intended = START, {}, Ledger(START), []
    for request in schedule:
        if request not in read:
            read[request] = value
            continue
        if request in died:
            intended.append(read[request] + 1)
        else:
            ledger.write(read[request] + 1, value)
        value = read[request] + 1
    return ledger.close(value, intended), value


def test_destroyed_is_what_is_missing():
    """The sum of what writes destroyed is what is missing, in each of the 945 orders of five requests."""
    for schedule in schedules(5):
        account, value = counted(schedule)

        assert account.disagreement is None, schedule
        assert account.lost == account.destroyed == account.writes - (value - START), schedule
        assert 0 <= account.lost < account.writes, schedule


def test_unconfirmed_writes_are_found():
    """Whichever replicas die in whichever order of four requests: the judge separates what it can, and the rest adds up."""
    for schedule in schedules(4):
        for died in (some for number in range(5) for some in combinations(range(4), number)):
            account, _ = counted(schedule, died)

            assert account.disagreement is None, (schedule, died)
            assert account.lost == account.destroyed, (schedule, died)
            assert account.applied_unknowns <= len(died), (schedule, died)


@pytest.mark.parametrize(("intended", "agrees"), [([None], True), ([], False)])
def test_unconfirmed_write_of_one_command(intended, agrees):
    """A write that adds to any value may have been applied, although its journal does not know which value it left."""
    ledger = Ledger(0)
    ledger.write(1, 0)
    ledger.write(3, 2)

    account = ledger.close(3, intended)

    assert (account.writes, account.lost, account.applied_unknowns) == (3, 0, 1)
    assert (account.disagreement is None) is agrees


def test_ledger_stays_small():
    """The ledger stays small when nothing is lost."""
    ledger = Ledger(0)
    for value in range(10_000):
        ledger.write(value + 1, value)

    assert len(ledger._balance) == 1
