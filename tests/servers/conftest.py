"""What tests of servers share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from lab.servers.supervisor import Supervisor


@pytest.fixture(scope="module")
def supervisor() -> Iterator[Supervisor]:
    """One supervisor for the servers of all runs of a file."""
    with closing(Supervisor()) as one:
        yield one
