"""Test the experiments of the shelf: each is complete, planned in pairs or blocks, and drawn from its CSV file alone."""

from __future__ import annotations

import re
import string

import pytest

from app.locks import stages
from app.shelf import plugins
from lab.errors import BadInput
from lab.evidence.run_folder import find
from lab.experiments import experiment as shelf
from lab.experiments import result as results
from lab.experiments.drawing import write, write_again
from lab.experiments.result import RATIO, SHARES, Point, finding, load, new_measurement, save, spots
from lab.experiments.runner import planned
from lab.language import Language
from lab.story.say import text
from tests.every import every

CELLS = {"at", "first", "last", "least", "most", "zero"}


def places_of(form):
    """Return the places of a template that have a cell, as (figure, cell), and the places without one."""
    named = [name for _, name, _, _ in string.Formatter().parse(form) if name]
    return [tuple(name.rstrip("]").split("[")) for name in named if "[" in name], [name for name in named if "[" not in name]


def result_with(name, *points, ended="complete"):
    """Return a result of an experiment with these points: stage, value, pair, figures, verdict."""
    experiment = shelf.load(name)
    stages, values = (list(dict.fromkeys(point[place] for point in points)) for place in (0, 1))
    about = {"stages": ", ".join(stages), "values": ", ".join(values), "planned": len(points), "ended": ended}
    result = new_measurement(experiment, command="lab experiment", conditions="rush", conditions_zh="rush", **about)
    for stage, value, pair, figures, *verdict in points:
        result.points.append(
            Point(stage=stage, value=value, repeat=1, pair=pair, figures=figures, verdict="".join(verdict), reason="seen")
        )
    return result


@pytest.mark.whole
@every("name", shelf.names)
def test_experiment_of_the_shelf(name, tmp_path):
    """An experiment loads, its values fit its stages, its figures have names in both languages, and it is drawn."""
    one = shelf.load(name)
    recorded = {*one.figures, RATIO} if one.against else {*one.figures}
    assert {one.of, *one.panels, *one.log} <= recorded
    assert plugins.file("lab.experiments.measures", one.measure).METER
    assert not one.against or one.against in one.stages
    if one.measure == "run":
        assert all(one.fitted(stages()[stage], value, {}) for stage in one.stages for value in shelf.texts(one.values))
    cells = CELLS | {*one.stages, *shelf.texts(one.values)}
    for language in Language:
        assert all(text("figure", figure, language, against="x") for figure in recorded)
        for form in filter(None, (one.words(language).finding, one.words(language).finding_none)):
            numbers, groups = places_of(form)
            assert numbers
            assert {figure for figure, _ in numbers} <= {*recorded, "at"}
            assert {cell for _, cell in numbers} <= cells
            assert groups in ([one.each], [])
    first = shelf.texts(one.values)[0]
    plan = planned(one, one.stages, shelf.texts(one.values), 2, 1)
    figures = {
        value: {figure: float(figure not in SHARES or value != first) for figure in one.figures}
        for value in [point.value for point in plan]
    }
    result = result_with(name, *((point.stage, point.value, point.pair, figures[point.value]) for point in plan))
    save(result, tmp_path / f"{name}.csv")
    table, *pictures = write_again(tmp_path)
    assert load(tmp_path / f"{name}.csv").points == result.points
    assert finding(result, one) in table.read_text(encoding="utf-8")
    assert "–" not in finding(result, one)
    assert [picture.read_bytes()[:5] for picture in pictures] == [b"<?xml"] * 2


def test_pairs_are_neighbours():
    """A point and its comparison are measured one after the other, and the next repeat measures them in the reverse order."""
    one, values = shelf.load("locks"), ["one client", "16 clients on one key"]

    plan = planned(one, ["ttl", "redis-py"], values, 2, 1)

    pairs = [(first, second) for first, second in zip(plan[::2], plan[1::2], strict=True)]
    assert all((first.pair, first.value) == (second.pair, second.value) for first, second in pairs)
    assert [first.stage for first, _ in pairs] == ["ttl", "ttl", "redis-py", "redis-py"]
    assert len({first.pair for first, _ in pairs}) == 4


def test_blocks_are_shuffled():
    """Without pairs, each repeat measures every cell once, in an order that follows from the seed."""
    one = shelf.load("retry")

    plan = planned(one, ["lua"], shelf.texts(one.values), 3, 7)

    orders = [[point.value for point in plan if point.repeat == repeat] for repeat in (1, 2, 3)]
    assert [sorted(order) for order in orders] == [sorted(shelf.texts(one.values))] * 3
    assert orders[0] != orders[1]
    assert plan == planned(one, ["lua"], shelf.texts(one.values), 3, 7)


def test_ratio_is_of_the_pair():
    """A ratio is taken within each pair, and not between two means; the stage that others are compared with has no ratio."""
    result = result_with(
        "locks",
        ("lua", "one client", 1, {"cycles_per_s": 50.0}),
        ("redis-py", "one client", 1, {"cycles_per_s": 100.0}),
        ("redis-py", "one client", 2, {"cycles_per_s": 10.0}),
        ("lua", "one client", 2, {"cycles_per_s": 5.0}),
    )

    lua, redis_py = spots(result)

    assert lua.figures[RATIO].value == pytest.approx(0.5)
    assert RATIO not in redis_py.figures
    assert redis_py.figures["cycles_per_s"].samples == 2


def test_finding_of_ttl():
    """The finding states where losses begin and the largest loss; it leaves out VOID runs, and marks a partial result."""
    share = {"acknowledged": 30.0}
    result = result_with(
        "ttl",
        ("lua", "0.9", 0, {"lost_share": 0.0, **share}, "KEPT"),
        ("lua", "1.1", 0, {"lost_share": 0.5, **share}, "ADMITTED"),
        ("lua", "2.25", 0, {"lost_share": 1.0, **share}, "VOID"),
        ("watchdog", "0.9", 0, {"lost_share": 0.0, **share}, "KEPT"),
        ended="interrupted",
    )
    result.about["planned"] = "6"

    said = finding(result, shelf.load("ttl"))

    assert said.startswith("lua loses nothing up to 0.9 × TTL, and 50% of the increments at 1.1 × TTL; ")
    assert said.endswith("watchdog loses nothing up to 0.9 × TTL (partial, interrupted: 4 of 6 points)")


def test_nothing_was_measured(tmp_path):
    """A result without a valid point is drawn, and says that nothing was measured."""
    result = result_with("retry", ("lua", "5", 0, {}, "VOID"))

    table, *_ = write(result, tmp_path)

    assert "Nothing was soundly measured" in table.read_text(encoding="utf-8")
    assert "VOID: seen" in table.read_text(encoding="utf-8")


def test_folder_of_a_result_is_no_run(tmp_path):
    """A command for a run refuses the folder of a result, and a CSV file of another kind is refused as a result."""
    (tmp_path / "retry.csv").write_text("stage\nlua\n", encoding="utf-8")

    with pytest.raises(BadInput, match=r"is not a run: it has no run\.json"):
        find(str(tmp_path))
    with pytest.raises(BadInput, match=r"retry\.csv is not the result of an experiment"):
        load(tmp_path / "retry.csv")


@every("path", lambda: sorted(results.KEPT.glob("*.csv")))
def test_kept_result(path):
    """A kept result is complete, and has the time, the machine, the commit and the command of its measurement."""
    result = load(path)

    assert re.match(r"\d{4}-\d\d-\d\dT", result.about["measured_utc"])
    assert all(result.about[name] for name in ("title", "commit", "machine", "versions", "command", "conditions"))
    assert (result.partial, len(result.points)) == ("", int(result.about["planned"]))
    assert spots(result)
    assert {name for point in result.points for name in point.figures} == {*shelf.load(path.stem).figures}
