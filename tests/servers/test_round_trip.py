"""A store's round trip is measured on the store itself."""

from __future__ import annotations

import pytest

from app.settings import Settings
from lab.experiments.lock_benchmark import ASK, measure_lock, round_trip


@pytest.mark.parametrize("store", ASK)
def test_store_answers_a_round_trip(store, store_url):
    """The store itself answers a round trip."""
    settings = Settings.read({}, run="t", **{f"{store}_url": store_url(store)})

    done = measure_lock("a round trip", store, settings, round_trip(store), 1, False, 0.1, 0, lambda: 0)

    assert done.cycles >= 1
    assert done.p50_ms > 0
