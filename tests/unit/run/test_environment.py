"""What a run keeps on record of the place in which it was made."""

from __future__ import annotations

import importlib.metadata

from app.locks import stages
from lab.run.environment import libraries_of


def test_library_of_the_lock(tmp_path):
    """The packages that a stage imports are on record, wherever it imports them; those of Python and the lab are not."""
    mine = tmp_path / "my_lock.py"
    mine.write_text("import os\nfrom app.lock import Grant\n\ndef lock():\n    from redis.lock import Lock\n    import nowhere\n")

    assert libraries_of(mine) == {"redis": importlib.metadata.version("redis")}


def test_library_of_the_ladder():
    """A stage of the ladder brings its own lock."""
    assert libraries_of(stages()["lua"].path) == {}
    assert libraries_of(None) == {}
