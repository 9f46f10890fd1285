"""Test that a run that fails keeps its folder, which the message names, and that an early interrupt leaves nothing."""

import contextlib
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import MagicMock

import pytest

from app.locks import stages
from lab.errors import ExitStatus, LabError, LabFailed, NotReady
from lab.evidence import run_folder
from lab.evidence.run_record import Ending
from lab.interrupts import Interrupted, interruptible, signals_held
from lab.run import runner
from lab.scenario import reader as scenarios


def conducted(reports: Path, monkeypatch: pytest.MonkeyPatch, coming_up: Callable[[], None], under_load: Callable[[], None]):
    """Make a run. coming_up: is called to start its servers. under_load: is called as its load."""

    @contextlib.contextmanager
    def bring_up(*_: object) -> Iterator[SimpleNamespace]:
        coming_up()
        yield SimpleNamespace(clocks=1, lock_store=(), versions={})

    monkeypatch.setattr(runner, "_run", lambda *_: under_load())
    with signals_held() as signals:
        return runner.run(signals, None, stages()["lua"], scenarios.load("rush"), None, "lab run", bring_up, "local", reports)


def fails(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


def left(reports: Path) -> list[Path]:
    return list((reports / "runs").iterdir())


@pytest.mark.parametrize("error", [NotReady("replica-1 did not come up"), OSError("no leader")])
def test_failed_start(tmp_path, monkeypatch, error):
    """If the servers do not start, the folder is kept, and the message names it."""
    with pytest.raises(LabError, match=str(error)) as caught:
        conducted(tmp_path, monkeypatch, fails(error), lambda: None)

    (kept,) = left(tmp_path)
    assert str(kept) in str(caught.value)
    assert str(error) in (kept / "failure.txt").read_text(encoding="utf-8")
    assert not (kept / "run.json").exists()


def test_failed_fault(tmp_path, monkeypatch):
    """A fault that cannot be injected ends the run; its evidence stays, with the reason."""
    with pytest.raises(LabFailed, match="OSError: no leader to kill") as caught:
        conducted(tmp_path, monkeypatch, lambda: None, fails(OSError("no leader to kill")))

    (kept,) = left(tmp_path)
    assert caught.value.exit_status == ExitStatus.LAB_FAILED
    record = run_folder.load(kept)
    assert (record.ended, record.ended_with) == (Ending.FAILED, "OSError: no leader to kill")
    assert "Traceback" in (kept / "failure.txt").read_text(encoding="utf-8")


def test_interrupt_at_the_folder(tmp_path, monkeypatch):
    """An interrupt right after the folder was made leaves no folder."""
    create = runner.RunFolder.create

    def interrupted(*about: object) -> run_folder.RunFolder:
        folder = create(*about)
        signal.raise_signal(signal.SIGINT)
        return folder

    monkeypatch.setattr(runner.RunFolder, "create", interrupted)

    with pytest.raises(Interrupted), interruptible():
        conducted(tmp_path, monkeypatch, lambda: None, lambda: None)

    assert left(tmp_path) == []


def test_interrupt_after_the_load(tmp_path):
    """An interrupt while the replicas finish their requests ends the run as interrupted, and the lab asks them nothing more."""
    system = MagicMock(dead=list, event_recorders=lambda _: [], replicas=[], **{"quiet.side_effect": Interrupted("SIGINT")})
    record = SimpleNamespace(ended=Ending.COMPLETE, unwritten="")
    runner._run(system, scenarios.load("rush"), (), lambda *_: None, SimpleNamespace(path=tmp_path), record, None)

    assert record.ended is Ending.INTERRUPTED
    assert not system.parts.called
