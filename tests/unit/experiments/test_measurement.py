"""The file that every measurement of many runs has."""

from __future__ import annotations

import pytest

from lab.errors import BadInput
from lab.experiments import measurement
from lab.experiments.benchmark import BenchFile, Measured, RatioLimit


def test_what_is_saved_is_read(tmp_path):
    """A measurement is read as it was saved, with its table next to it; whether a promise is held follows from its figure."""
    one = Measured(name="a", what="", unit="s", value=2.0, promise=RatioLimit(at_most=1.0), samples=[2.0])
    found = measurement.made_now(BenchFile, pairs=3, figures=[one], unmeasured={})

    paths = measurement.save(found, tmp_path / "below" / "bench.json", "| a |\n")

    assert [path.name for path in paths] == ["bench.json", "bench.md"]
    assert measurement.load(paths[0], BenchFile) == found
    assert not found.figures[0].held


@pytest.mark.parametrize("content", [None, "[]", "{}"])
def test_folder_without_a_measurement(content, tmp_path):
    """A folder that holds no such file, or another one of that name, is refused by its name."""
    if content is not None:
        (tmp_path / "bench.json").write_text(content, encoding="utf-8")

    with pytest.raises(BadInput, match=f"{tmp_path.name} holds no bench.json of this lab"):
        measurement.load(tmp_path / "bench.json", BenchFile)
