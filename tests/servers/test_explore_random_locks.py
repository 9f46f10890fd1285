"""The explorer on random small locks: an independent search, which has neither Redis nor the lock's code, finds the same."""

from __future__ import annotations

import pytest

from tests.sampled import sampled
from tests.servers.explored import exploring, loses, question, searched
from tests.servers.random_locks import LOST, STUCK, OneByOne, bounded, drawn, source

PROGRAMS, EACH = 200, 4  # of all, in the ordinary run one of so many


PLANS = list(dict.fromkeys(bounded(drawn(number)) for number in range(10 * PROGRAMS)))[:PROGRAMS]
PARTS = sampled(range(EACH), [0])


@pytest.mark.parametrize("part", PARTS)
def test_same_as_one_by_one(part, real, tmp_path):
    """As many schedules, as many in which an increment is lost, and as many in which a request waits for ever."""
    own, broken = tmp_path / "random_lock.py", set()
    for plan in PLANS[part::EACH]:
        own.write_text(source(plan), encoding="utf-8")
        with exploring(real, own) as explorer:
            found = searched(explorer, question())
            lost = loses(found)
        alone = OneByOne(plan, 2)

        assert (found.schedules, lost, found.cut) == (alone.schedules, alone.breaking[LOST], alone.breaking[STUCK]), plan
        broken |= alone.breaking.keys()
    assert {LOST, STUCK} <= broken
