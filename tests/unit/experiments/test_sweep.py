"""A sweep measures each value by runs of its own, says how sure its figures are, and mixes in no run that proves nothing."""

from collections import Counter

import pytest

from app.locks import stages
from lab import paths
from lab.errors import BadInput
from lab.experiments import measurement, sweep_report, sweeps
from lab.experiments.sweep import LOST_LOCK, LOST_SHARE, RESULT, Point, SweepResult, curves_of, load_result, numbers
from lab.experiments.sweep_report import markdown, write, write_again
from lab.experiments.sweep_runner import expected_s, planned
from lab.report.statistics import Spread, of_amounts, of_shares
from tests.every import every
from tests.pages import assert_self_contained

SCENARIO = {"name": "work_outlasts_ttl", "requests": 30, "users": 10, "replicas": 3}
ABOUT = {
    "command": "lab sweep", "commit": "abc", "measured_utc": "2026-01-01T00:00:00+00:00", "seed": 1, "repeats": 2,
    "scenario": SCENARIO, "versions": {"redis-server": "7"}, "machine": {"cores": 2, "processor": "one"},
}  # fmt: skip


Z2 = 1.959964**2


def seen(
    value: float, stage: str = "lua", verdict: str = "KEPT", number: int = 0, reason: str = "seen", **figures: float
) -> Point:
    """A run of 30 increments, of which so many are lost."""
    about = {"stage": stage, "value": value, "repeat": 0, "verdict": verdict, "reason": reason, "run": f"{stage}-{value}"}
    return Point(**about, acknowledged=30, lost=number, figures=figures)


def lost(value: float, number: int, stage: str = "lua", verdict: str = "ADMITTED", reason: str = "seen") -> Point:
    """A run of the ttl sweep."""
    return seen(value, stage, verdict, number, reason, lost_share=number / 30, kept_per_s=5.0)


def asked(value: float, per_s: float, commands: float) -> Point:
    """A run of the retry sweep."""
    waits = {"wait_p50_ms": 1.0, "wait_p99_ms": 20.0, "wait_max_ms": 50.0}
    return seen(value, kept_per_s=per_s, commands_per_increment=commands, **waits)


def stopped(value: float, lost_lock: bool, stage: str = "lua") -> Point:
    """A run of the sweep over pauses."""
    return seen(value, stage, "UNSEEN", lost_lock=float(lost_lock), lost_share=0.0)


def crashed(ttl_ms: float, longest_ms: float, stage: str = "lua") -> Point:
    """A run of the sweep over TTLs after a crash."""
    return seen(ttl_ms, stage, wait_max_ms=longest_ms)


def made(name: str, *points: Point, ended: str = measurement.COMPLETE) -> SweepResult:
    values = sorted({point.value for point in points})
    names = list(dict.fromkeys(point.stage for point in points))
    return SweepResult(**ABOUT, sweep=name, stages=names, values=values, planned=len(points), points=list(points), ended=ended)


def finding(result: SweepResult) -> str:
    return sweeps.load(result.sweep).finding(curves_of(result))


@every(
    "interval, expected",
    [
        # of 1 and 100: the mean of log10 is 1, its standard error 1, and t is 12.7062 for one degree of freedom
        (of_amounts([1, 100]), (10, 10 ** (1 - 12.7062), 10 ** (1 + 12.7062))),
        (of_amounts([0, 0, 3]), (1, 0, 5.303)),  # a plain mean, and not below zero
        (of_amounts([7]), (7, 7, 7)),
        (of_amounts([7, 7, 7]), (7, 7, 7)),
        (of_shares([0, 15, 30], [30, 30, 30]), (0.5, 0, 1)),
        (of_shares([14, 15, 16], [30, 30, 30]), (0.5, 0.5 - 4.3027 / 30 / 3**0.5, 0.5 + 4.3027 / 30 / 3**0.5)),
        (of_shares([0, 0], [30, 30]), (0, 0, Z2 / (60 + Z2))),  # none of n: Wilson's
    ],
)
def test_interval(interval, expected):
    """Amounts and shares have Student's interval, of logarithms or within zero and one; those without a spread have none."""
    assert interval[:3] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("one", "other", "together"), [((1, 0, 2), (3, 2, 4), True), ((1, 0, 2), (4, 3, 5), False), ((1, 1, 1), (9, 8, 10), True)]
)
def test_overlap_of_intervals(one, other, together):
    """Intervals overlap where they share a value, or where one has no width."""
    assert Spread(*one, 3).overlaps(Spread(*other, 3)) is together
    assert Spread(*other, 3).overlaps(Spread(*one, 3)) is together


@every(
    "name, points, message",
    [
        (
            "ttl",
            [lost(0.5, 0), lost(0.9, 0), lost(1.5, 15), lost(2.25, 20)],
            "lua loses nothing up to 0.9 × TTL, and 67% of the increments at 2.25 × TTL",
        ),
        ("ttl", [lost(0.5, 3)], "lua loses 10% of the increments at 0.5 × TTL"),
        ("ttl", [lost(0.5, 0, "watchdog"), lost(2, 0, "watchdog")], "watchdog loses nothing up to 2 × TTL"),
        ("ttl", [lost(0.5, 0), lost(2, 3, "watchdog", "BROKEN")], "lua loses nothing up to 0.5 × TTL"),
        ("ttl", [lost(0.5, 0), lost(2, 3, verdict="BROKEN")], "lua loses nothing up to 0.5 × TTL where it was sound"),
        ("ttl", [lost(2, 3, verdict="VOID")], "Nothing was soundly measured"),
        (
            "pauses",
            [stopped(0.5, False), stopped(0.9, False), stopped(1.1, True), stopped(1.1, False), stopped(2, True)],
            "lua: no lock is lost up to a pause of 0.9 × TTL, and it is lost in 50% of the runs at 1.1 × TTL",
        ),
        ("pauses", [stopped(0.5, True, "watchdog")], "watchdog: it is lost in 100% of the runs at 0.5 × TTL"),
        ("pauses", [stopped(2, False), stopped(2, False, "watchdog")], "lua, watchdog: no lock is lost up to a pause of 2 × TTL"),
        (
            "takeover",
            [crashed(300, 380), crashed(4000, 4020), crashed(300, 400, "watchdog")],
            "After a crash the others wait longer than the TTL: by 20 to 80 ms with lua, by 100 ms with watchdog",
        ),
        (
            "retry",
            [asked(1, 100, 90), asked(1, 101, 90), asked(20, 200, 9), asked(20, 202, 9)],
            (
                "lua: asking every 1 ms gives 50% lower throughput "
                "than every 20 ms, and costs 90 commands per increment instead of 9"
            ),
        ),
        (
            "retry",
            [asked(1, 100, 90), asked(1, 190, 90), asked(20, 200, 9), asked(20, 202, 9)],
            (
                "lua: asking every 1 ms gives no measurably lower throughput "
                "than every 20 ms, but costs 90 commands per increment instead of 9"
            ),
        ),
        (
            "retry",
            [asked(1, 300, 90), asked(20, 200, 9)],
            "lua is fastest when it asks every 1 ms, at 90 commands per increment instead of 9 at 20 ms",
        ),
        ("retry", [asked(1, 300, 90)], "lua: 300/s when it asks every 1 ms, at 90 commands per increment"),
    ],
)
def test_finding_of_a_sweep(name, points, message):
    """A sweep finds for each stage where losses begin, until when a lock is kept, how long others wait, what asking costs."""
    assert finding(made(name, *points)) == message


@pytest.mark.whole
def test_equal_stages_are_both_seen():
    """Two stages with the same outcome at every pause stand next to each other, and no line joins what was measured."""
    from matplotlib.figure import Figure

    result = made("pauses", *(stopped(pause, pause > 1, name) for name in ("lua", "watchdog") for pause in (0.5, 2)))
    canvas = Figure()

    sweeps.load("pauses").draw(canvas, result, curves_of(result))

    (axes,) = canvas.axes
    places = [container.lines[0].get_xdata() for container in axes.containers]
    assert len(places) == 2
    assert all(abs(left - right) == pytest.approx(0.03) for left, right in zip(*places, strict=True))
    assert {container.lines[0].get_linestyle() for container in axes.containers} == {"None"}


def test_a_lost_lock_is_counted_by_runs():
    """Three runs without a loss prove less than none: the interval is Wilson's over three runs."""
    (curve,) = curves_of(made("pauses", *(stopped(0.5, False) for _ in range(3))))

    assert curve.spots[0].figures[LOST_LOCK].high == pytest.approx(Z2 / (3 + Z2))


@pytest.mark.whole
def test_unsound_run_is_not_averaged(tmp_path):
    """A VOID or BROKEN run is shown, and is not part of an average."""
    points = [lost(1.5, 15), lost(1.5, 30, verdict="VOID", reason="a server | died"), lost(1.5, 6, verdict="BROKEN")]
    result = made("ttl", *points)
    (curve,) = curves_of(result)

    assert (curve.spots[0].sound, curve.spots[0].figures[LOST_SHARE].value) == (1, 0.5)
    assert "VOID: a server / died; BROKEN: seen" in markdown(sweeps.load("ttl"), result, [curve])
    write(sweeps.load("ttl"), result, tmp_path)
    picture = (tmp_path / "ttl.svg").read_text(encoding="utf-8")
    assert ">VOID<" in picture
    assert ">BROKEN<" in picture


def test_value_without_a_sound_run():
    """A value without a sound run has no figure."""
    result = made("ttl", lost(0.5, 0), lost(2, 3, verdict="VOID"))
    (curve,) = curves_of(result)

    assert curve.known(LOST_SHARE) == [(0.5, curve.spots[0].figures[LOST_SHARE])]
    assert "| `lua` | 2 | 0 | – | – | VOID: seen |" in markdown(sweeps.load("ttl"), result, [curve])


@pytest.mark.whole
@every("name", sweeps.names)
def test_sweep_is_written_from_its_file(name, tmp_path):
    """A sweep's page, table and picture are made from sweep.json alone."""
    points = {
        "ttl": [lost(0.5, 0), lost(2, 15)],
        "retry": [asked(1, 100, 90), asked(20, 200, 9)],
        "pauses": [stopped(0.5, False), stopped(2, True)],
        "takeover": [crashed(300, 330), crashed(2000, 2040)],
    }[name]
    measurement.save(made(name, *points), tmp_path / RESULT)

    page, _, table, *pictures = write_again(tmp_path)

    assert [path.name for path in pictures] == [f"{name}.svg", f"{name}.zh.svg"]
    assert_self_contained(page)
    assert finding(made(name, *points)) in table.read_text(encoding="utf-8")


@pytest.mark.whole
@every("name", sweeps.names)
def test_sweep_without_a_sound_run(name, tmp_path):
    """A sweep in which no run could begin is drawn and states so."""
    void = Point(stage="lua", value=1, repeat=0, verdict="VOID", reason="it could not begin")

    page, _, table, *pictures = write(sweeps.load(name), made(name, void), tmp_path)

    assert "Nothing was soundly measured" in page.read_text(encoding="utf-8")
    assert "VOID: it could not begin" in table.read_text(encoding="utf-8")
    assert all(path.stat().st_size for path in pictures)


@pytest.mark.whole
def test_interrupted_sweep_is_marked(tmp_path):
    """An interrupted sweep is marked in title, table and page."""
    result = made("ttl", lost(0.5, 0), ended="interrupted")
    result.planned = 9

    paths = write(sweeps.load("ttl"), result, tmp_path)

    said = "interrupted: 1 of 9 points were measured"
    assert said in sweep_report.heading(sweeps.load("ttl"), result, curves_of(result))
    assert all(said in path.read_text(encoding="utf-8") for path in paths[:3])


@every("name", sweeps.names)
def test_repeats_are_shuffled_blocks(name):
    """Each repeat is a block with every value once, in an order of its own."""
    sweep = sweeps.load(name)
    both = [stages()["lua"], stages()["watchdog"]]

    plan = planned(sweep, both, sweep.values, 3, {"seed": 7})

    size = len(sweep.values) * 2
    blocks = [[(stage.name, value) for stage, value, *_ in plan[start : start + size]] for start in (0, size, 2 * size)]
    assert all(Counter(block) == Counter(blocks[0]) and len(set(block)) == size for block in blocks)
    assert blocks[0] != blocks[1] != blocks[2]
    assert plan == planned(sweep, both, sweep.values, 3, {"seed": 7})
    assert {scenario.seed for *_, scenario in plan} == {7, 8, 9}


@every("name, minutes", [("pauses", 3), ("retry", 3), ("takeover", 3), ("ttl", 4)])
def test_sweep_is_short(name, minutes):
    """A sweep is short enough to wait for."""
    sweep = sweeps.load(name)

    assert expected_s(sweep, planned(sweep, [stages()["lua"]], sweep.values, sweep.repeats, {})) < minutes * 60


@every(
    "text, message",
    [("1,x", "'x' is not a number"), ("0,1", "0 is not a number above 0"), ("1,inf", "inf"), ("", "''"), ("1,1.0", "twice")],
)
def test_bad_values_are_refused(text, message):
    """Values that make no sense are refused."""
    with pytest.raises(BadInput, match=message):
        numbers(text)


@every("name", sweeps.names)
def test_reference_sweep(name):
    """The reference sweep is whole."""
    result = load_result(paths.REFERENCE / f"sweep-{name}")

    assert result.partial == ""
    assert len(result.points) == result.planned
