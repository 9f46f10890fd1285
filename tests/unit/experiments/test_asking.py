"""The benchmark of asking in turn times tries that find a majority, and refuses others."""

from __future__ import annotations

import pytest

from lab.errors import NothingShown
from lab.experiments.benchmarks import asking


def test_each_try_asks_for_a_key_of_its_own():
    """A key that is taken would be no vote."""
    asked = []

    def ask(*command):
        asked.append(command)
        return ["OK", "OK", "OK", TimeoutError(), TimeoutError()]

    assert asking.tries_s(ask, tries=4) < 1
    assert len({key for _, key, *_ in asked}) == len(asked) == 5  # the first makes the connections


def test_a_try_without_a_majority_is_no_measurement():
    """The time of a try that failed means nothing."""
    with pytest.raises(NothingShown, match="no majority"):
        asking.tries_s(lambda *command: ["OK", "OK", None, None, None], tries=1)
