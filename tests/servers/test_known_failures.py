"""A known failure is replayed with real servers, and seen."""

from __future__ import annotations

import pytest

from lab.libraries.known_failure import load, replay


@pytest.mark.trial
def test_known_failure_is_shown():
    """The lab sees what the report describes: a renewal of redis-py's lock without an expiry deletes its key."""
    known = load("redis_py_4279")

    assert replay(known).shows(known)
