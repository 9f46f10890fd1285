"""Test how the states of a level's page are merged."""

from lab.explore.play.encoding import merged


def test_states_that_differ_later_stay_apart():
    """Two states that look the same are merged only if the same states can follow them."""
    states = [[0], [1], [1], [1], [2], [3]]
    moves = [[0, 1, 0, 0, 1, 2, 0, 0, 2, 3, 0, 0], [0, 4, 0, 0], [0, 4, 0, 0], [0, 5, 0, 0], [], []]

    kept, after = merged(states, moves)

    assert kept == [[0], [1], [1], [2], [3]]
    assert after == [[0, 1, 0, 0, 1, 1, 0, 0, 2, 2, 0, 0], [0, 3, 0, 0], [0, 4, 0, 0], [], []]
