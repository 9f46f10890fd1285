"""Test the results of the rounds of ``lab count``."""

import pytest

from lab.count.picture import sentence
from lab.count.sums import Ended, Result, Round, status
from lab.errors import ExitStatus
from lab.language import Language


def round_with(grown: int, stock: int | None = None, step: int = 1, apart: bool = False, **ended: int) -> Round:
    """Return a round with this many requests of each outcome. apart: they follow each other; otherwise all overlap."""
    outcomes = [outcome for outcome, number in ended.items() for _ in range(number)]
    requests = [Ended(2.0 * place * apart, 2.0 * place * apart + 1, outcome) for place, outcome in enumerate(outcomes)]
    return Round(users=9, step=step, stock=stock, requests=requests, samples=[(0.0, 50), (9.0, 50 + step * grown)])


@pytest.mark.parametrize(
    ("grown", "about", "result", "bounds"),
    [
        (9, {"acknowledged": 9}, Result.AGREES, (0, 0)),
        (9, {"acknowledged": 9, "step": -1}, Result.AGREES, (0, 0)),
        (7, {"acknowledged": 9, "step": -1}, Result.LOST, (2, 2)),
        (7, {"acknowledged": 9, "failed": 4}, Result.LOST, (2, 2)),
        (7, {"acknowledged": 9, "unknown": 4}, Result.LOST, (2, 6)),
        (9, {"acknowledged": 9, "unknown": 4}, Result.OPEN, (0, 4)),
        (13, {"acknowledged": 9, "unknown": 4}, Result.AGREES, (-4, 0)),
        (14, {"acknowledged": 9, "unknown": 4}, Result.EXTRA, (-5, -1)),
        (10, {"acknowledged": 9, "refused": 4}, Result.EXTRA, (-1, -1)),
        (9, {"acknowledged": 9, "apart": True}, Result.ALONE, (0, 0)),
        (8, {"acknowledged": 9, "apart": True}, Result.LOST, (1, 1)),
        (0, {"acknowledged": 0, "failed": 9}, Result.ALONE, (0, 0)),
        (5, {"acknowledged": 9, "stock": 5, "refused": 4}, Result.OVERSOLD, (4, 4)),
        (5, {"acknowledged": 5, "stock": 5, "refused": 4}, Result.AGREES, (0, 0)),
        (4, {"acknowledged": 4, "stock": 5}, Result.UNSOLD, (0, 0)),
    ],
)
def test_result(grown, about, result, bounds):
    """A round shows a loss only beyond its unknown requests, and agrees only if an increment could have been lost."""
    one = round_with(grown, **about)
    found = one.figures()
    assert (one.result(), (found["lost_least"], found["lost_most"])) == (result, bounds)
    assert all(str(found["harm"]) in sentence(one, language) for language in Language if found["harm"])


@pytest.mark.parametrize(
    ("grown", "about", "words"),
    [(0, {"refused": 9}, "No request was acknowledged"), (-9, {"acknowledged": 9}, "--down is missing; otherwise 18 increments")],
)
def test_slips(grown, about, words):
    """If no request is acknowledged, or the number falls without --down, the sentence names the probable mistake."""
    assert words in sentence(round_with(grown, **about))


@pytest.mark.parametrize(
    ("results", "expected"),
    [
        ([Result.ALONE, Result.AGREES], ExitStatus.GOOD),
        ([Result.ALONE], ExitStatus.NOTHING_SHOWN),
        ([Result.AGREES, Result.OPEN], ExitStatus.NOTHING_SHOWN),
        ([Result.AGREES, Result.OPEN, Result.EXTRA], ExitStatus.BROKEN),
    ],
)
def test_status(results, expected):
    """A bad round decides the exit status, and otherwise an open round does."""
    assert status(results) is expected
