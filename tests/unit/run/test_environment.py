"""What a run keeps on record of the place in which it was made."""

from __future__ import annotations

import hashlib
import importlib.metadata

from app.environment import LIBRARIES
from app.lock import Stage
from app.locks import stages
from lab.run.environment import libraries_of, lock_files_of


def test_library_of_the_lock(tmp_path):
    """The packages that a stage imports are on record, wherever it imports them; those of Python and the lab are not."""
    mine = tmp_path / "my_lock.py"
    mine.write_text("import os\nfrom app.lock import Grant\n\ndef lock():\n    from redis.lock import Lock\n    import nowhere\n")

    assert libraries_of(Stage(path=mine)) == {"redis": importlib.metadata.version("redis")}


def test_library_of_the_ladder():
    """A stage of the ladder brings its own lock."""
    assert libraries_of(stages()["lua"]) == {}


def test_library_of_a_worker():
    """A stage that names its library has that one on record: its worker may have another version than the lab."""
    assert libraries_of(Stage(worker=("node",), library="redlock 4.2.0")) == {"redlock": "4.2.0"}


def test_pins_of_an_environment():
    """The file that pins the packages of a library is on record by its hash; a stage without an environment has none."""
    digest = hashlib.sha256((LIBRARIES / "locked" / "valkey.txt").read_bytes()).hexdigest()

    assert lock_files_of(Stage(environment="valkey")) == {"locked/valkey.txt": digest}
    assert lock_files_of(Stage()) == {}
