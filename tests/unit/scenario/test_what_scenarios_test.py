"""Test that the judge's limit of a deadlock and the expected verdicts agree with the claims."""

import pytest

from app.locks import stages
from lab.experiments.matrix import expectations, promised
from lab.judge.promises import PATIENCE_MS
from lab.scenario import reader
from tests.builders import MS, violations


@pytest.mark.parametrize(("waited_ms", "guilty"), [(2 * 300 + PATIENCE_MS - 1, False), (2 * 300 + PATIENCE_MS + 1, True)])
def test_time_of_a_deadlock(made, waited_ms, guilty):
    """A deadlock breaks the claim only after the time in the claim: twice the TTL and half a second."""
    made.increment("a", 0, 0, at=waited_ms, asked=0, outcome=None)
    made.answer("a", "acknowledged", "replica-1", 0, (waited_ms + 3) * MS, 1)

    claims = [claim for claim, _ in violations(made.analyse(final=1, ttl_ms=300, nested="crossed"))]

    assert claims == (["breaks_deadlock"] if guilty else [])


def test_expectations_agree_with_claims():
    """A stage is expected to keep its claims and to fail without them; a scenario that does not fit has no expected verdict."""
    shelf, known = stages(), {name: reader.load(name) for name in reader.names()}

    wrong = [
        (name, stage)
        for (name, stage), verdict in expectations().items()
        if stage not in shelf or name not in known or verdict != promised(known[name], shelf[stage])
    ]

    assert wrong == []
