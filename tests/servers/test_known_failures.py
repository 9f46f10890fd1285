"""A known failure of a library is replayed with real servers, and is shown."""

from __future__ import annotations

import pytest

from lab.errors import ExitStatus
from lab.libraries.known_failure import replay_failures


@pytest.mark.trial
def test_known_failure_is_shown():
    """The lab shows the reported failure: a renewal of redis-py's lock without an expiry deletes its key."""
    assert replay_failures(["redis_py_4279"]) is ExitStatus.GOOD
