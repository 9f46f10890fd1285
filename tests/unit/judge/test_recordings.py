"""Test the judge on recorded runs: each wrong lock is accused of its own mistake, and no sound lock is accused."""

import pytest

from tests.corpus import CORPUS, EXPECTED, SHELVES, busy, judged, recorded, runs

LARGE = [pytest.param(shelf, marks=pytest.mark.whole) for shelf in ("trial/wrong", "trial/sound")]  # of thousands of requests


@pytest.mark.parametrize("shelf", ["broken", "sound", *LARGE])
def test_a_recorded_run_is_judged_as_expected(shelf, tmp_path):
    """Each trial on a shelf has its recording, and the judge finds in it the expected harm of the lock."""
    kept, wrong = runs(shelf), {}
    for number, one in enumerate(one for one in recorded() if one.shelf == shelf):
        try:
            one.hold(*judged(kept.pop(one.name), tmp_path / str(number)))
        except (AssertionError, OSError, KeyError) as error:
            wrong[one.name] = error

    assert wrong == {}
    assert kept == {}


def test_a_run_of_a_busy_machine(tmp_path):
    """A run that was recorded on a busy machine is judged as it was then, and no sound lock is accused."""
    wrong = {}
    for number, one in enumerate(busy()):
        try:
            one.hold(*judged(one.run, tmp_path / str(number)))
        except (AssertionError, OSError) as error:
            wrong[one.name] = error

    assert wrong == {}


def test_every_lock_is_tried():
    """Each file on a shelf has an entry, and each entry its file."""
    assert {f"{shelf}/{path.stem}" for shelf in SHELVES for path in (CORPUS / shelf).glob("*.py")} == {
        name for name in EXPECTED if not name.startswith("stage/")
    }
