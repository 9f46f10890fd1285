"""The file that every measurement of many runs has, and how it grows."""

import os
from collections.abc import Iterator

import pytest

from lab.errors import BadInput, NothingShown
from lab.experiments import measurement
from lab.experiments.benchmark import BenchFile, Measured, RatioLimit

ONE = Measured(name="a", what="", unit="s", value=2.0, promise=RatioLimit(at_most=1.0), samples=[2.0])


def test_what_is_saved_is_read(tmp_path):
    """A measurement is read as it was saved, with its table next to it; whether a promise is held follows from its figure."""
    found = measurement.made_now(BenchFile, pairs=3, points=[ONE])

    paths = measurement.save(found, tmp_path / "below" / "bench.json", "| a |\n")

    assert [path.name for path in paths] == ["bench.json", "bench.md"]
    assert measurement.load(paths[0], BenchFile) == found
    assert not found.points[0].held


def test_two_at_once_have_two_places():
    """Two measurements that begin in the same second do not share a folder: its name ends with that of the process."""
    assert measurement.new_place("test").name.endswith(f"Z-{os.getpid()}")


@pytest.mark.parametrize(
    ("end", "ended", "partial"),
    [
        (None, "complete", ""),
        (KeyboardInterrupt, "interrupted", "interrupted: 1 of 2 points were measured"),
        (NothingShown, "cut short", "cut short: 1 of 2 points were measured"),
    ],
)
def test_points_are_kept(end, ended, partial, tmp_path):
    """Each point is in the file before the next is measured. What ends the measurement early is raised, and the points stay."""
    found, path, seen = measurement.made_now(BenchFile, pairs=3, planned=2), tmp_path / "below" / "bench.json", list[Measured]()

    def points() -> Iterator[Measured]:
        yield ONE
        assert (measurement.load(path, BenchFile).points, seen) == ([ONE], [ONE])
        if end:
            raise end
        yield ONE

    if end:
        with pytest.raises(end):
            measurement.record(found, points(), path, seen.append)
    else:
        measurement.record(found, points(), path, seen.append)

    kept = measurement.load(path, BenchFile)
    assert (kept.ended, kept.partial, kept.points) == (ended, partial, seen)


def test_nothing_measured_leaves_no_file(tmp_path):
    """Where an interrupt came before the first point, there is nothing to keep."""

    def points() -> Iterator[Measured]:
        raise KeyboardInterrupt
        yield

    with pytest.raises(KeyboardInterrupt):
        measurement.record(measurement.made_now(BenchFile, pairs=3), points(), tmp_path / "bench.json")

    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", [None, "[]", "{}"])
def test_folder_without_a_measurement(content, tmp_path):
    """A folder that holds no such file, or another one of that name, is refused by its name."""
    if content is not None:
        (tmp_path / "bench.json").write_text(content, encoding="utf-8")

    with pytest.raises(BadInput, match=f"{tmp_path.name} holds no bench.json of this lab"):
        measurement.load(tmp_path / "bench.json", BenchFile)
