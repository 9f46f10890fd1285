"""Test a sale, in which a request writes only if an item is left."""

import pytest

from lab.judge.fact import Code, Fact
from tests.builders import violations


@pytest.mark.parametrize("read", [1, None])
def test_sold_out_is_an_answer(made, read):
    """A request that finds all items sold is served; it is no write and no loss."""
    made.increment("a", 0, 0).sold_out("b", read, at=(10, 11, 12), replica="replica-2")

    findings = made.analyse(final=1)

    assert (findings.account.writes, findings.account.lost, findings.account.disagreement) == (1, 0, None)
    assert not violations(findings)
    assert not findings.mismatches
    assert findings.measures["served_percent"] == 100


def test_sold_out_needs_a_journal(made):
    """An answer that all items are sold is a mismatch if the replica's journal does not have it."""
    made.increment("a", 0, 0).answer("b", "sold_out", "replica-1")

    assert made.analyse(final=1).mismatches == [Fact(Code.SOLD_OUT_NOT_JOURNALED, request="b", replica="replica-1")]
