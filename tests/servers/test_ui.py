"""``lab ui``, used by the requests that Locust's page sends."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest

from app.locks import stages
from lab.evidence.history import History
from lab.scenario import reader as scenarios
from lab.scenario.options import form_options
from lab.ui.addresses import from_elsewhere
from tests.command import gone, wait_for
from tests.locust_page import Ui


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Iterator[list[Ui]]:
    """Yield the list of the ``lab ui`` that tests share: the last one is in use; after one has ended, the next test adds one."""
    several: list[Ui] = []
    yield several
    for one in several:
        if one.process.poll() is None:
            one.end()


@pytest.fixture
def ui(made, tmp_path) -> Ui:
    """Return a page at rest. A run does not end it, so the next test uses it too."""
    if not made or made[-1].process.poll() is not None:
        made.append(Ui(tmp_path, "--stage", "ttl", "--scenario", "slow_holder"))
    made[-1].begin()
    return made[-1]


def verdict_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "verdict.json").read_text(encoding="utf-8"))


def record_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "run.json").read_text(encoding="utf-8"))


def test_keys_beyond_this_machine(tmp_path):
    """If other machines can reach it, both pages need the teacher's key, which is in the printed address; a phone's key fails.

    An interrupt at rest leaves no process.
    """
    open_ = Ui(tmp_path, "--host", "0.0.0.0")
    try:
        assert "the teacher's key" in open_.process.stdout.readline()
        phone = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        if from_elsewhere("0.0.0.0"):
            scanned = open_.process.stdout.readline().split()[1]
            assert phone.open(scanned, timeout=10).url == scanned.partition("?")[0]
            at_locust = scanned.replace(str(urlsplit(open_.live).port), str(urlsplit(open_.address).port))
            with pytest.raises(urllib.error.HTTPError, match="403"):
                phone.open(at_locust, timeout=10)
        for path in ("/", "/lab", "/stats/requests", "/assets/x.js"):
            with pytest.raises(urllib.error.HTTPError, match="403") as refused:
                open_.get(path)
            assert "only the teacher's page" in refused.value.read().decode()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            open_.press(stage="none")
        assert not (tmp_path / "reports").exists()

        for address, page in ((open_.live, "/live/news"), (open_.opens, "/lab")):
            teacher = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
            assert teacher.open(address, timeout=10).url == address.partition("?")[0]  # the key is not in the address
            assert teacher.open(address.partition("/?")[0] + page, timeout=10).status == 200
        assert json.load(teacher.open(f"{open_.address}/lab", timeout=10))["verdicts"] == []
        live = open_.live.partition("?")[0]
        assert json.load(teacher.open(f"{live}live/stop", b"{}", 10)) == {}  # the lab itself reaches Locust
        with pytest.raises(urllib.error.HTTPError, match="400") as no_lesson:
            teacher.open(f"{live}live/start", b"{}", 10)
        assert "no run of the lesson" in no_lesson.value.read().decode()
    finally:
        family = open_.family()
        status, out, err = open_.end()
    assert (status, out) == (0, "")  # no more than the addresses
    assert "nothing is left running" in err
    assert gone(family)


def test_wrong_form_is_refused(ui):
    """A wrong form is refused with the reason and, for a name, with the choices; nothing runs."""
    refused = {
        "bogus": ui.press(stage="bogus"),
        "file": ui.press(stage="./lua.py"),
        "scenario": ui.press(scenario="rsh"),
        "users": ui.press(requests="15"),
        "number": ui.press(requests="many"),
        "misfit": ui.press(scenario="work_outlasts_ttl", stage="none"),
        "locust's own": ui.press(spawn_rate="0"),
    }

    assert {answer["success"] for answer in refused.values()} == {False}
    assert "no stage 'bogus'" in refused["bogus"]["message"]
    assert "`lab list stages`" in refused["bogus"]["message"]  # a form has the list of the stages next to it
    assert "no stage './lua.py'" in refused["file"]["message"]
    assert "Did you mean 'rush'" in refused["scenario"]["message"]
    assert "users = 20 cannot share requests = 15" in refused["users"]["message"]
    assert "requests must be a whole number, not 'many'" in refused["number"]["message"]
    assert "the stage none does not have it" in refused["misfit"]["message"]
    assert ui.at_rest()
    assert ui.verdicts() == []
    assert [*ui.folders(), *ui.recording()] == []


def test_stop_during_a_run(ui):
    """Stop during a run leaves a VOID run; until its verdict, Start is refused."""
    ui.press(stage="lua", work_ms="50")
    wait_for(lambda: ui.recorded() > 20)
    assert ui.press(stage="none") == {"success": False, "message": "a run is under way: wait for its verdict, or press Stop"}

    ui.stop()

    (facts,) = wait_for(ui.verdicts)
    assert facts["verdict"] == "VOID"
    assert 20 < facts["requests"] < 200
    (folder,) = ui.folders()
    assert record_of(folder)["ended"] == "stopped"
    assert verdict_of(folder)["verdict"] == "VOID"
    assert verdict_of(folder)["lost"] == 0  # the counter was read after the requests in flight had written


def test_stop_at_a_rate(ui):
    """Stop during a run at a rate leaves no request for the next run, which is complete."""
    ui.press(stage="lua", rate="200", work_ms="50")
    wait_for(lambda: ui.recorded() > 5)
    ui.stop()
    wait_for(ui.verdicts)

    at_rate = ui.run(stage="incr", rate="300", requests="150")

    assert (at_rate["requests"], at_rate["counter"]) == (150, 150)
    requests = sorted(request.intended_ns for request in History(ui.folders()[-1]).requests())
    assert 0.25 < (requests[-1] - requests[0]) / 1e9 < 1.0  # 150 at 300 a second, however many users the page has
    stopped = ui.folders()[0]
    assert len(list(History(stopped).requests())) == verdict_of(stopped)["requests"]  # nothing was added after it was judged


def test_dead_server_ends_only_the_run(ui):
    """A server that dies ends the run and not the page. Stop while the servers of the next run start sends no request."""
    ui.press(stage="lua", work_ms="50", user_count="10", spawn_rate="10")  # few users: on a busy machine no request gives up
    wait_for(lambda: ui.recorded() > 20)
    nginx = min((one for one in ui.family() if one.name() == "nginx"), key=lambda process: process.create_time())

    nginx.kill()

    (facts,) = wait_for(ui.verdicts)
    assert "lost a server in the middle of the run: nginx" in facts["why"]
    assert facts["verdict"] == "VOID"
    wait_for(ui.at_rest)
    ui.press(stage="lua")
    wait_for(ui.recording)
    ui.stop()
    (facts,) = wait_for(lambda: ui.verdicts()[1:])
    assert (facts["verdict"], facts["requests"], facts["counter"]) == ("VOID", 0, 0)


def test_page_at_rest(ui):
    """The form begins with the stage and the scenario of the command line. The page listens on loopback alone."""
    options, family = ui.options(), {process.pid for process in ui.family()}
    listening = [one for one in psutil.net_connections("inet") if one.pid in family and one.status == psutil.CONN_LISTEN]

    said = {name: options[name]["default_value"].partition(":")[0] for name in ("stage", "scenario")}
    assert said == {"stage": "ttl", "scenario": "slow_holder"}
    assert {one.laddr.ip for one in listening} == {"127.0.0.1"}


def test_each_start_is_a_whole_run(ui):
    """Each press of Start in the same page makes a whole run, with its verdict, its records and its report."""
    options = ui.options()
    assert [line.partition(":")[0] for line in options["stage"]["choices"]] == list(stages())
    assert [line.partition(":")[0] for line in options["scenario"]["choices"]] == scenarios.names()
    assert set(options) == {"stage", "scenario", *(one.name for one in form_options())}
    assert list(options)[-2:] == ["requests", "rate"]  # the lab's, then Locust's

    none, lua = ui.run(stage="none"), ui.run(stage="lua", requests="201", ttl_ms="2500")

    assert (none["verdict"], none["acknowledged"], none["requests"]) == ("ADMITTED", 200, 200)
    assert none["lost"] > 0
    assert (lua["verdict"], lua["requests"], lua["lost"], lua["counter"]) == ("KEPT", 201, 0, lua["acknowledged"])
    folders = [(ui.cwd / one["report"]).parent for one in (none, lua)]
    assert ui.folders() == folders
    for folder, facts in zip(folders, (none, lua), strict=True):
        assert verdict_of(folder)["lost"] == facts["lost"]
        assert len(list(History(folder).requests())) == facts["requests"]
        assert (folder / "report.html").exists()
    record = record_of(folders[1])
    assert (record["ended"], record["scenario"]["users"], record["scenario"]["ttl_ms"]) == ("complete", 20, 2500)
    assert record["command"].startswith("lab run rush --stage lua --requests 201 --ttl-ms 2500 --users 20")

    with urllib.request.urlopen(f"{ui.address}/stats/report?download=1", timeout=10) as answer:
        assert b"/increment" in answer.read()  # Locust's own report
    wait_for(ui.at_rest)  # the page asks again as long as the test runs
    (tab,) = ui.stats()["extended_stats"]
    assert [row["stage"] for row in tab["data"][:2]] == ["lua", "none"]


def test_interrupt_keeps_the_run(ui):
    """An interrupt stops every process and keeps the run in progress."""
    ui.press(stage="lua", requests="20000")
    wait_for(lambda: ui.recorded() > 20)
    family = ui.family()

    status, out, _ = ui.end()  # long before the requests that are left could be sent

    assert status == 130
    assert gone(family)
    (folder,) = ui.folders()
    verdict = verdict_of(folder)
    assert (record_of(folder)["ended"], verdict["verdict"]) == ("interrupted", "VOID")
    assert folder.name in out
    assert "\nVOID\n" in out


def test_a_locust_that_ends_is_reported(ui):
    locust = next(one for one in ui.family() if "locust" in one.cmdline())

    locust.kill()

    _, err = ui.process.communicate(timeout=120)
    assert ui.process.returncode == 4
    assert "Locust ended with status -9" in err
