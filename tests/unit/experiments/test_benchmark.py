"""What a measurement of the lab's own costs is worth: intervals, interleaving, and histories that are what they say."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from lab.errors import BadInput, MissingProgram
from lab.experiments import benchmark
from lab.experiments.benchmark import Measured, RatioLimit, pairwise
from lab.report.statistics import mean_of_ratios


def test_order_of_a_ratio():
    """The interval of a ratio is that of the inverse ratio, inverted."""
    ratios = [0.9, 1.2, 1.05, 0.97]

    value, low, high, _ = mean_of_ratios(ratios)

    assert mean_of_ratios([1 / ratio for ratio in ratios])[:3] == pytest.approx((1 / value, 1 / high, 1 / low))


def test_pairs_are_interleaved():
    """Pairs are interleaved, and the first of a pair alternates."""
    order: list[str] = []

    def called(name: str, value: float) -> float:
        order.append(name)
        return value

    pairs = list(pairwise(3, lambda: called("one", 1.0), lambda: called("other", 2.0)))

    assert order == ["one", "other", "other", "one", "one", "other"]
    assert pairs == [(1.0, 2.0)] * 3  # in either order


def test_promise_at_its_limit():
    """A promise is kept at its limit and broken beyond it."""
    assert RatioLimit(at_most=1.0).holds(1.0)
    assert not RatioLimit(at_most=1.0).holds(1.01)
    assert not RatioLimit(at_least=1.0).holds(0.99)


def measured(
    name: str = "a", low: float | None = None, high: float | None = None, what: str = "", limit: float = 1.0
) -> Measured:
    about = {"unit": "", "value": 0.85, "low": low, "high": high, "promise": RatioLimit(at_most=limit), "samples": []}
    return Measured(name=name, what=what, **about)


@pytest.mark.parametrize(("low", "high", "within"), [(0.8, 0.9, False), (0.8, 1.1, True), (None, None, False)])
def test_within_noise(low, high, within):
    """A promise that lies within the interval is marked: another run may judge it differently."""
    one = measured(low=low, high=high)

    assert ("within the noise" in benchmark.entry(one)) == within
    assert benchmark.entry(one).splitlines()[0].split()[-1] == "yes"


def test_eighty_columns():
    """The heading, the numbers and the words of a figure fit 80 columns, and no word is broken."""
    long = "how long a run of the lab takes as a share of what the same run takes " * 4
    text = benchmark.entry(measured("waits queued throughput", 0.851, 0.859, long))

    assert max(map(len, [*text.splitlines(), benchmark.HEADING])) <= 80
    assert long.split() == text.split()[-len(long.split()) :]


@pytest.mark.parametrize(("limit", "status"), [(1.0, 4), (0.5, 1)])
def test_missing_program(limit, status, monkeypatch, tmp_path, capsys):
    """A bench whose program is missing is named with its reason; the others are measured. A broken promise counts more."""

    class Good:
        def measure(self, pairs: int) -> Iterator[Measured]:
            yield measured("good", limit=limit)

    class NeedsWrk:
        def measure(self, pairs: int) -> Iterator[Measured]:
            raise MissingProgram("wrk is not installed. Install it with: apt-get install wrk")
            yield

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("lab.experiments.benchmark.benches", lambda: {"needs-wrk": NeedsWrk(), "good": Good()})

    assert benchmark.measure([], 3) == status

    out = capsys.readouterr().out
    assert "needs-wrk was not measured: wrk is not installed" in out
    assert "Install it" in out
    assert "\ngood " in out
    (kept,) = (tmp_path / "reports").glob("bench-*.json")
    assert [one["name"] for one in json.loads(kept.read_text(encoding="utf-8"))["points"]] == ["good"]


def test_unknown_benchmark_is_refused():
    """An unknown benchmark is refused with the nearest name."""
    with pytest.raises(BadInput, match="Did you mean 'explorer'"):
        benchmark.measure(["explorr"], 1)
