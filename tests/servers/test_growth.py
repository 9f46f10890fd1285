"""What a run costs as it grows, measured on real runs."""

from __future__ import annotations

import pytest

from lab.errors import NothingShown
from lab.experiments import growth, measurement
from tests.command import Started, gone, wait_for
from tests.sampled import sampled


@pytest.mark.trial
def test_every_part_has_time_and_memory(tmp_path):
    """Each part of a run is measured with its processor time and its memory."""
    planned = [("replicas", 2, "incr", {"replicas": 2, "requests": 1500}), ("store", 0, "lua", {"requests": 700})]

    growth.measure(planned, "lab growth", tmp_path / "out", lambda point: None)

    alone, locked = measurement.load(tmp_path / "out" / "growth.json", growth.Growth).points
    assert (alone.verdict, locked.verdict) == ("KEPT", "KEPT")
    assert set(alone.peak_mib) == set(growth.PARTS) - {"lock's store"}
    assert set(locked.peak_mib) == set(growth.PARTS)
    assert all(mib > 0.5 for mib in locked.peak_mib.values())
    assert locked.cpu_ms["locust"] > 0
    assert locked.cpu_ms["replicas"] > locked.cpu_ms["lock's store"] > 0  # Python, against Redis
    assert 0 < locked.folder_mib < 20
    assert min(locked.judging_s, locked.drawing_s, locked.judging_mib, locked.drawing_mib) > 0


def test_failed_run_is_reported(tmp_path):
    """A run that fails is reported with the last lines of its output."""
    planned = [("users", 100, "incr", {"users": 100, "requests": 50})]

    with pytest.raises(NothingShown, match="users = 100 cannot share requests = 50"):
        growth.measure(planned, "lab growth", tmp_path / "out", lambda point: None)


# what measures, and how many of its processes there must be before the interrupt: the second one shows that the first one works
MEASURING = [("votes", "bench votes", 1), ("explorer", "explore uuid", 1), ("locks", "bench locks", 2)]


@pytest.mark.parametrize(("name", "measured_by", "number"), sampled(MEASURING, ["votes", "explorer"]))
def test_interrupted_measurement_ends(tmp_path, name, measured_by, number):
    """A signal to a measurement also ends, in silence, the processes that it measures with, and nothing waits for their end."""
    one = Started(tmp_path, "bench", name, "--pairs", "3")
    measuring = wait_for(lambda: one.named(measured_by)[number - 1 :] and one.named(measured_by))
    family = one.descendants()

    one.process.terminate()

    done = one.end()
    assert (done.status, gone([*measuring, *family])) == (130, True)
    assert "Traceback" not in done.err
