"""The judge on trial: each wrong lock is condemned for what is wrong with it, and no sound lock is accused, by recorded runs."""

import pytest

from tests.locks_on_trial import BROKEN, EXPECTED, LOCKS, NOT_BELIEVED, SOUND
from tests.recordings import judged, path_of, recorded

LARGE = [pytest.param(shelf, marks=pytest.mark.whole) for shelf in ("trial/wrong", "trial/sound")]  # of thousands of requests


@pytest.mark.parametrize("shelf", ["broken", "sound", *LARGE])
def test_a_recorded_run_is_judged_as_expected(shelf, tmp_path):
    """The recording of each trial on a shelf is there, and the judge finds in it what is expected of the lock."""
    wrong = {}
    for number, one in enumerate(recorded()):
        if one.name.startswith(f"{shelf}/"):
            try:
                one.hold(*judged(path_of(one), tmp_path / str(number)))
            except (AssertionError, OSError) as error:
                wrong[one.name] = error

    assert wrong == {}


@pytest.mark.parametrize(
    ("shelf", "expected"),
    [("broken", BROKEN | NOT_BELIEVED), ("sound", SOUND), ("trial/wrong", EXPECTED["wrong"]), ("trial/sound", EXPECTED["sound"])],
)
def test_every_lock_is_tried(shelf, expected):
    """Each file on a shelf has an entry, and each entry its file."""
    assert {path.stem for path in (LOCKS / shelf).glob("*.py")} == set(expected)


@pytest.mark.parametrize("shelf", ["broken", "sound"])
def test_the_first_line_says_what_it_is(shelf):
    """The first line of a lock's file begins with the name of its shelf."""
    files = (LOCKS / shelf).glob("*.py")

    assert [path.name for path in files if not path.read_text(encoding="utf-8").startswith(f'"""{shelf.capitalize()}: ')] == []
