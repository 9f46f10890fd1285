"""Test the picture of lost increments: the parts of each bar, and the title."""

import msgspec

from lab.judge.judgement import Verdict
from lab.report import reference
from lab.report.lost import finding, ordered
from lab.story.say import text


def changed(result, **figures):
    return msgspec.structs.replace(result, judgement=msgspec.structs.replace(result.judgement, **figures))


def test_parts_add_up_to_the_requests():
    """Each request of the reference ladder is in one part of its bar, also for a stage that writes twice for a request."""
    rows = ordered(reference.ladder())

    assert {sum(row.parts.values()) for row in rows} == {5000}
    assert {row.judgement.stage for row in rows if row.lost} == {"none", "local", "setnx_no_else", "mysql_upsert"}
    assert [row.name for row in rows][:3] == ["none", "none, 1 replica", "local"]


def test_title_names_the_worst_run():
    """The title names the worst run that is not VOID: by its losses, or else by its refusals."""
    none, incr = reference.of_stage("none"), reference.of_stage("incr")
    void = changed(none, verdict=Verdict.VOID)
    refusing = changed(incr, acknowledged=9, failed=4991)

    for results, kind, figures in (
        ([incr, none], "finding_some", {"worst": "none", "shown": none.judgement.lost}),
        ([incr, void], "finding_nobody", {"worst": "incr"}),
        ([refusing], "finding_refusals", {"worst": "incr", "shown": 4991}),
        ([void], "proves_nothing", {}),
    ):
        proven = {row.judgement.stage for row in ordered(results) if row.shows}
        sound = len(proven) - any(row.lost for row in ordered(results) if row.shows)
        assert finding(ordered(results)) == text("lost", kind, n=len(proven) or 1, of=5000, sound=sound, **figures)
