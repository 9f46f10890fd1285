"""Test that a run whose judging, saving or drawing fails keeps its evidence."""

import contextlib
import errno
import os
import signal
from collections.abc import Callable

import pytest

from app.locks import stages
from lab import pipeline
from lab.errors import ExitStatus, LabFailed
from lab.evidence import run_folder
from lab.evidence.run_folder import RunFolder
from lab.interrupts import Interrupted, interruptible
from lab.judge.judgement import Judgement
from lab.report import site
from lab.scenario import reader as scenarios
from tests.builders import made_run


@pytest.fixture
def conducted(tmp_path, monkeypatch) -> Callable[[], pipeline.Conducted]:
    """Return a function that judges a run made by hand, as if the servers had just made it."""

    def run(*_: object) -> tuple[RunFolder, object]:
        folder = RunFolder.create("rush", "mine", tmp_path)
        made_run(folder.path)
        return folder, run_folder.load(folder.path)

    monkeypatch.setattr(pipeline, "run", run)
    conduct = pipeline.conduct
    return lambda: conduct(None, stages()["lua"], scenarios.load("rush"), None, "lab run", tmp_path)


def full(*_: object, **__: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device", "verdict.json")


def test_judge_that_fails(conducted, tmp_path, monkeypatch):
    """If the judge fails, the run is kept, and a corrected lab can judge it."""
    monkeypatch.setattr(pipeline, "judge", lambda folder: {}["gone"])

    with pytest.raises(LabFailed, match="KeyError: 'gone'"):
        conducted()

    (kept,) = (tmp_path / "runs").iterdir()
    assert kept.suffix == ".failed"
    assert run_folder.load(kept).final == 2
    assert "Traceback" in (kept / "failure.txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("moment", ["judging", "told"])
def test_interrupt_after_the_load(conducted, tmp_path, monkeypatch, moment):
    """An interrupt while a run is judged, or while its verdict is printed, ends the lab; the run has its verdict and its name."""

    def reach(reached: str) -> None:
        if reached == moment:
            os.kill(os.getpid(), signal.SIGINT)

    judge = pipeline.judge
    monkeypatch.setattr(pipeline, "judge", lambda folder: (reach("judging"), judge(folder))[1])
    for name, fake in {
        "supervised": contextlib.nullcontext,
        "conduct": lambda *_: conducted(),
        "by_locust": lambda *_: None,
    }.items():
        monkeypatch.setattr(pipeline, name, fake)
    with interruptible(), pytest.raises(Interrupted):
        pipeline.make_run(stages()["lua"], scenarios.load("rush"), "lab run", on_judged=lambda *_: reach("told"))

    kept = (tmp_path / "runs" / "latest").resolve()
    assert {path.name for path in (tmp_path / "runs").iterdir()} == {"latest", kept.name}
    assert Judgement.load(kept).final == 2


@pytest.mark.parametrize("step", ["lab.pipeline.save", "lab.report.run_page.report_run"])
def test_disk_that_is_full_at_the_end(conducted, monkeypatch, capsys, step):
    """If the verdict or a picture cannot be written, the run is published, and its status is CANNOT_WRITE."""
    monkeypatch.setattr(step, full)

    done = conducted()
    shown = pipeline.finish(done)

    assert done.exit_status == ExitStatus.CANNOT_WRITE
    assert (done.folder.path.name, done.folder.path.is_dir()) == (done.folder.name, True)
    assert shown == done.folder.path
    assert capsys.readouterr().err == ("error: a part of the run could not be written: verdict.json: No space left on device\n")


def test_site_that_cannot_be_written(conducted, monkeypatch, capsys):
    """If the site cannot be written, this is reported, and the run keeps its verdict and status."""
    monkeypatch.setattr(site, "write", full)

    done = conducted()
    shown = pipeline.finish(done, draw=False)

    assert shown == done.folder.path / "verdict.json"
    assert done.exit_status == done.judgement.exit_status
    assert "the site of runs could not be written" in capsys.readouterr().err
