"""Test the site of runs: the runs that it lists, and the folders that it leaves out."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from lab.evidence.record_lines import read_lines
from lab.evidence.run_folder import save
from lab.paths import REFERENCE
from lab.report import site
from tests.command import lab
from tests.kept_runs import LADDER, folders
from tests.pages import rows_of

KNOWN = sorted(read_lines(LADDER))[:4]
WRITE = "import shutil, sys; from pathlib import Path; from lab.report import site; folder, reports = map(Path, sys.argv[1:])\n"
WRITE += "shutil.copytree(folder, reports / 'runs' / folder.name); site.write(reports)"


@pytest.fixture
def reports(tmp_path) -> Path:
    """Return a folder with four runs of the reference, as if they had just been made."""
    folders(tmp_path / "runs", most=4)
    return tmp_path


def test_all_runs_newest_first(reports):
    """The site has all runs, the newest first, each with its figures. It names no address outside itself."""
    page = site.write(reports)
    rows = rows_of(page)

    assert set(re.findall(r"https?://[^\s\"'<]+", page.read_text(encoding="utf-8"))) <= {"http://www.w3.org/2000/svg"}
    assert [row["run"] for row in rows] == [*reversed(KNOWN)]
    for row in rows:
        verdict = json.loads((reports / "runs" / row["run"] / "verdict.json").read_bytes())
        assert {name: row[name] for name in ("stage", "verdict", "acknowledged", "final", "lost")} == {
            name: verdict[name] for name in ("stage", "verdict", "acknowledged", "final", "lost")
        }


def test_site_follows_the_folders(reports):
    """The next site shows a run that was judged again, drawn or removed; links and files are no runs."""
    site.write(reports)
    facts = reports / "runs" / KNOWN[1] / "verdict.json"
    save(facts, json.loads(facts.read_bytes()) | {"lost": 123})
    (reports / "runs" / KNOWN[0] / "report.html").touch()
    shutil.rmtree(reports / "runs" / KNOWN[2])
    shutil.copytree(reports / "runs" / KNOWN[0], reports / "runs" / ".unfinished.part")
    (reports / "runs" / "latest").symlink_to(reports / "runs" / KNOWN[0])
    (reports / "runs" / "a-file").touch()

    page = site.write(reports)
    rows = rows_of(page)
    assert [(row["run"], row["page"]) for row in rows] == [(KNOWN[3], ""), (KNOWN[1], ""), (KNOWN[0], "report.html")]
    assert {row["run"]: row["lost"] for row in rows}[KNOWN[1]] == 123
    assert "<summary>" not in page.read_text(encoding="utf-8")


def test_folder_that_is_no_run(reports):
    """A folder that is no run is left out and named."""
    shutil.copytree(reports / "runs" / KNOWN[0], reports / "runs" / "foreign-folder")
    (reports / "runs" / "foreign-folder" / "verdict.json").write_bytes(b"\xff{")

    index = site.write(reports)
    assert len(rows_of(index)) == len(KNOWN)
    assert "<code>foreign-folder</code>" in index.read_text(encoding="utf-8")


def test_foreign_names_are_escaped(reports):
    """Names of a run with HTML in them cannot become part of the page."""
    name, evil = "20990101T000000.000Z-rush-evil-1", "</script><img src=x onerror=alert(1)><!--"
    shutil.copytree(reports / "runs" / KNOWN[0], reports / "runs" / name)
    facts = reports / "runs" / name / "verdict.json"
    save(facts, json.loads(facts.read_bytes()) | {"run": name, "stage": evil, "scenario": evil})

    index = site.write(reports)
    assert rows_of(index)[0]["stage"] == evil
    assert "<img" not in index.read_text(encoding="utf-8")


@pytest.mark.whole
def test_runs_that_end_at_once(tmp_path, tmp_path_factory):
    """Runs that end at the same time are all in the site afterwards."""
    (tmp_path / "runs").mkdir()
    ending = [
        subprocess.Popen([sys.executable, "-c", WRITE, folder, tmp_path])
        for folder in folders(tmp_path_factory.mktemp("kept"), most=4)
    ]

    assert [process.wait(60) for process in ending] == [0] * len(KNOWN)
    assert len(rows_of(tmp_path / site.INDEX)) == len(KNOWN)
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == ["index.html", "index.zh.html", "runs"]  # nothing half-written is left


def test_newest_ladder_is_shown(reports):
    """The site shows the newest ladder; if there is none, it shows the reference ladder."""
    (reports / "reference").mkdir()
    shutil.copy(REFERENCE / "lost.svg", reports / "reference")
    assert "This is the reference ladder" in site.write(reports).read_text(encoding="utf-8")

    for day in ("20990101T000000Z", "20990102T000000Z"):
        (reports / f"ladder-{day}").mkdir()
        shutil.copy(REFERENCE / "lost.svg", reports / f"ladder-{day}")
    assert "ladder-20990102T000000Z." in site.write(reports).read_text(encoding="utf-8")


@pytest.mark.whole
def test_report_and_clean_write_the_site(tmp_path):
    """`lab report` without a run writes the site, and `lab clean` removes runs from it."""
    done = lab("report", cwd=tmp_path)
    assert (done.status, done.out) == (0, "reports/index.html\n")

    folders(tmp_path / "reports" / "runs", most=4)
    assert lab("clean", "--keep", "1", cwd=tmp_path).status == 0
    assert [row["run"] for row in rows_of(tmp_path / "reports" / "index.html")] == [KNOWN[-1]]
