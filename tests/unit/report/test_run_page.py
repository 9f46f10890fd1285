"""Test the page of a run: its title, its bar of all requests, and its links."""

import re

import msgspec
import pytest

from lab.evidence.loss import Mechanism
from lab.judge.judgement import Measure, Verdict
from lab.language import Language
from lab.report import run_data, run_page
from lab.report.run_page import RunPage
from lab.report.run_words import mender
from tests.builders import made_run, result_of
from tests.every import every

ENGLISH = Language.ENGLISH


@every(
    "figures, parts",
    [
        ({"acknowledged": 60, "writes": 60, "lost": 1, "final": 59}, {"kept": 59, "lost": 1}),
        ({"acknowledged": 6, "writes": 6, "failed": 30, "unknown": 4, "final": 6}, {"kept": 6, "refused": 30, "unknown": 4}),
        ({"acknowledged": 6, "writes": 8, "failed": 1, "unknown": 3, "final": 8}, {"kept": 8, "refused": 1, "unknown": 1}),
        ({"acknowledged": 5, "writes": 9, "duplicated": 4, "lost": 7, "final": 2}, {"kept": 2, "lost": 7}),
        ({"acknowledged": 5, "writes": 5, "lost": 0, "final": None, "failed": 2}, {"unknown": 5, "refused": 2}),
        ({"acknowledged": 5, "writes": 5, "final": 5, "sold_out": 9, "stock": 5}, {"kept": 5, "sold-out": 9}),
    ],
)
def test_bar_is_of_all_requests(tmp_path, figures, parts):
    """The parts of the bar add up to all requests and all writes beyond one for each request."""
    none = {"lost": 0, "duplicated": 0, "failed": 0, "unknown": 0, "sold_out": 0}
    lost_by = {Mechanism.NO_LOCK: figures["lost"]} if figures.get("lost") else {}
    result = result_of(tmp_path, **none | figures, lost_by=lost_by)
    page = RunPage(result, 0, ENGLISH)

    found = [part for part in page.parts() if part.number]

    assert {part.kind.partition(" ")[0]: part.number for part in found} == parts
    judgement = result.judgement
    requests = judgement.acknowledged + judgement.failed + judgement.unknown + judgement.sold_out
    assert sum(part.number for part in found) == requests + judgement.duplicated


def test_void_is_the_headline(tmp_path):
    """The page of a run that proves nothing says so first, with its reason, and judges no claim."""
    result = result_of(tmp_path, verdict=Verdict.VOID, danger={"handovers": Measure(20, 3)})
    page = RunPage(result, 0, ENGLISH)

    assert page.statements[0] == "This run proves nothing"
    assert page.reasons
    assert [one.held for one in page.tested()] == [None]


def test_few_grants_have_no_hundredth(tmp_path):
    """With fewer than 200 grants, the page has no 99th percentile of the waits."""
    result = result_of(tmp_path, acknowledged=60, writes=60, lost=0, final=60, wait_ms={"p50": 1, "p99": 9, "max": 9})

    assert not any("99" in words for words in RunPage(result, 60, ENGLISH).price())
    assert any("99" in words for words in RunPage(result, 200, ENGLISH).price())


def test_a_stuck_lock_has_no_price(tmp_path):
    """The page of a run that kept almost no increment has no speed, and no commands for each increment."""
    figures = {"acknowledged": 6, "writes": 6, "lost": 0, "final": 6, "sent_per_increment": 463.7}
    result = result_of(tmp_path, wait_ms={"p50": 1, "p99": 9, "max": 9}, **figures)

    assert list(RunPage(result, 0, ENGLISH).price()) == []


def test_only_servers_of_the_store_are_named(tmp_path):
    """The conditions name only the servers of the lock's store, and show no list as Python writes it."""
    page, *_ = run_page.report_run(made_run(tmp_path / "20260101T000000.000Z-rush-mine-1"))
    result = run_data.load(page.parent)
    result.record.versions |= {"mariadbd": "10", "redis-server": "7", "kazoo (package)": "2"}

    conditions = dict(RunPage(result, 3, ENGLISH).conditions())

    assert "redis-server 7" in conditions["programs"]
    assert not re.search("mariadbd|kazoo", conditions["programs"])
    assert [value for value in conditions.values() if "[{" in value or "'kind'" in value] == []


def test_links_to_existing_pages(tmp_path):
    """A run has links to its level, its chapter and the stage that mends it, as far as these pages exist."""
    figures = {"verdict": Verdict.ADMITTED, "stage": "uuid", "scenario": "release_race", "claim": "releases_atomically"}
    runs = tmp_path / "reports" / "runs" / "one"
    page = RunPage(result_of(runs, **figures), 0, ENGLISH)
    assert [way.address for way in page.goes_on() if way.address] == []

    play, docs = tmp_path / "reports" / "play", tmp_path / "docs" / "ladder"
    play.mkdir(parents=True)
    docs.mkdir(parents=True)
    levels = [run_page.LevelPage("uuid-pause", "uuid", ["releases_atomically"])]
    (play / run_page.LEVELS).write_bytes(msgspec.json.encode(levels))
    for path in (play / "uuid-pause.html", docs / "uuid.md", docs / "lua.md"):
        path.touch()

    found = [way.address for way in page.goes_on() if way.address]

    chapters = [f"../../../docs/ladder/{stage}.md" for stage in ("uuid", "lua")]
    assert found == ["../../play/uuid-pause.html?lang=en", *chapters]
    assert any(way.command.endswith("run release_race --stage lua") for way in page.goes_on())


@pytest.mark.parametrize("environment", Language)
def test_second_language_on_request(tmp_path, monkeypatch, environment):
    """A run is drawn in one language, with the command for the second; when both exist, each page has a link to the other."""
    monkeypatch.setenv("LC_ALL", f"{environment}_XX.UTF-8")
    folder, other = made_run(tmp_path / "runs" / "run"), next(one for one in Language if one != environment)
    own, *_ = run_page.report_run(folder)
    assert own.name == run_page.PAGES[environment]
    assert not {name for name, language in run_page.DRAWN.items() if language == other and (folder / name).exists()}
    assert f"report run --lang {other}" in own.read_text(encoding="utf-8")

    run_page.draw_if_missing(folder / run_page.TIMELINES[other])

    for one, leads_to in ((environment, other), (other, environment)):
        text = (folder / run_page.PAGES[one]).read_text(encoding="utf-8")
        assert f'href="{run_page.PAGES[leads_to]}?lang={leads_to}"' in text
        assert "--lang" not in text


def test_nothing_is_drawn_outside_the_runs(tmp_path):
    """A missing page is drawn in the folder of a run, also through the link `latest`, but through no other link."""
    runs, elsewhere = tmp_path / "runs", tmp_path / "elsewhere"
    for folder in (made_run(runs / "run"), made_run(elsewhere)):
        run_page.report_run(folder, languages=[ENGLISH])
    (runs / "latest").symlink_to("run")
    (runs / "away").symlink_to(elsewhere)

    for name in ("latest", "away", "nothing"):
        run_page.draw_if_missing(runs / name / run_page.PAGES[Language.CHINESE])

    assert [path.parent.name for path in tmp_path.rglob("report.zh.html") if not path.parent.is_symlink()] == ["run"]


@every("stage, scenario, mends", [("setnx", "holder_crash", "setnx_expire"), ("watchdog", "frozen_holder", "watchdog_abort")])
def test_stage_that_mends_a_promise(tmp_path, stage, scenario, mends):
    """A broken promise is mended by the next stage that makes it; a kept promise has no such stage."""
    judgement = result_of(tmp_path, verdict=Verdict.ADMITTED, stage=stage, scenario=scenario).judgement

    assert mender(judgement) == mends
    assert mender(msgspec.structs.replace(judgement, verdict=Verdict.KEPT)) is None
