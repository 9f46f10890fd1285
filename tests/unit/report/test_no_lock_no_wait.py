"""A stage without a lock has no waits for one."""

from __future__ import annotations

import pytest

from lab.report import run_data
from tests.builders import Made


@pytest.mark.parametrize(("key", "waits"), [("lock", 2), ("", 0)])
def test_waits_need_a_lock(tmp_path, key, waits):
    """The curve of waits is empty where no request named a key."""
    made = (
        Made(tmp_path).increment("a", read=0, overwrote=0, key=key).increment("b", read=1, overwrote=1, at=(4, 5, 6, 7), key=key)
    )

    assert len(run_data.series(made.analyse(final=2)).wait_ms) == waits
