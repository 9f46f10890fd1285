"""Test the rounds of lab experiment ladder."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from lab.experiments import ladder
from lab.report import run_data
from tests.kept_runs import of_ladder


@pytest.fixture
def conducted(monkeypatch, tmp_path):
    """Return a list of the runs: stage, replicas, and whether it was drawn. No run is made: each is a reference run."""
    made: list[tuple[str, int, bool]] = []
    shelf = {name: stage for name, stage in ladder.stages().items() if name in ("none", "local", "lua")}
    known = {name: of_ladder(f"rush-{name}-") for name in shelf}

    def conduct(stage, scenario, command, console, on_judged):
        result = known[stage.name]
        made.append((stage.name, scenario.replicas, False))
        folder = SimpleNamespace(path=result.folder)
        done = SimpleNamespace(judgement=result.judgement, record=result.record, folder=folder, findings=None, unwritten="")
        on_judged(done.judgement, done.findings)
        return done

    def finish(done, draw=True):
        made[-1] = (*made[-1][:2], draw)
        return done.folder.path

    for name, fake in {
        "stages": lambda: shelf,
        "make_run": conduct,
        "finish": finish,
        "publish_site": lambda: None,
        "one_supervisor": nullcontext,
        "introduce": lambda *about: None,
        "summarise": lambda *about: None,
        "report_many": lambda folders, into: [into / str(len(folders))],
    }.items():
        monkeypatch.setattr(ladder, name, fake)
    return made


def test_rounds_are_interleaved(conducted, tmp_path, capsys):
    """Each round runs all stages before the next round begins; only the first round is drawn and compared."""
    assert ladder.run_ladder({}, tmp_path, 2, "lab experiment ladder") == 0

    a_round = [("none", 3), ("local", 3), ("lua", 3), ("none", 1), ("local", 1)]
    assert conducted == [(*one, True) for one in a_round] + [(*one, False) for one in a_round]
    assert [(one.stage, one.replicas, one.round) for one in run_data.rounds_in(tmp_path)] == [
        (*one, number) for number in (1, 2) for one in a_round
    ]
    assert f"{tmp_path}/5" in capsys.readouterr().out.replace("\n", "")

    ladder.run_ladder({}, tmp_path / "once", 1, "lab experiment ladder")
    assert not (tmp_path / "once" / run_data.ROUNDS).exists()
