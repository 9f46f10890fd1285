"""Results of the scorecard, for tests."""

from pathlib import Path

import msgspec

from lab.evidence.record_lines import write_line
from lab.libraries.scorecard import RESULTS
from lab.own_lock.page import TestedLock


def kept(folder: Path, name: str, tested: TestedLock) -> None:
    """Keep the result of a library in a folder."""
    write_line(folder / RESULTS, name, msgspec.json.encode(tested))
