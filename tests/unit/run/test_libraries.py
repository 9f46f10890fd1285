"""The versions of what a lock under test imports are on record."""

from __future__ import annotations

import importlib.metadata

from lab.run.environment import libraries


def test_libraries_of_a_stage(tmp_path):
    """Libraries count wherever the file imports them; the standard library and the lab do not."""
    path = tmp_path / "mine.py"
    path.write_text(
        "import json\nfrom app.locks import lua\ndef run():\n    from kazoo.recipe.lock import Lock\n", encoding="utf-8"
    )

    assert libraries(path) == {"kazoo (package)": importlib.metadata.version("kazoo")}
    assert libraries(None) == {}
