"""The runs that a page compares differ in some parameters, which its table lists."""

from lab.report.comparison import differing
from tests.kept_runs import of_ladder


def test_parameters_that_differ():
    """A parameter is listed if two runs have another value of it, and not if all have the same."""
    three, one = of_ladder("rush-none-"), of_ladder("one_replica-none-")

    assert differing([three, one]) == ["scenario", "replicas"]
    assert differing([three, three]) == []
