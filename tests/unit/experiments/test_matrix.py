"""Test a matrix: all cells have one judge and one commit, and a cell counts its rounds."""

from functools import partial

import msgspec
import pytest

from lab.errors import BadInput, ExitStatus
from lab.evidence.run_folder import save
from lab.experiments import matrix, matrix_round
from lab.report.matrix import Cell, Matrix, Origin, read
from lab.run import environment

OLD = Origin(judge="aaa", code="bbb", commit="ccc", versions={"redis-server": "Redis server v=7.0.15 sha=0"})
NEW = msgspec.structs.replace(OLD, started_utc="2026-01-02T03:04:05+00:00")


@pytest.fixture
def conducted(monkeypatch, tmp_path):
    """Return two lists: the verdicts of the next runs, KEPT if it is empty, and the current origin. No run is made."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(matrix, "plan", partial(planned, matrix.plan))
    verdicts: list[str] = []
    origin = [NEW]

    def judged(cell, *about):
        verdict = verdicts.pop(0) if verdicts else "KEPT"
        if verdict == "interrupt":
            raise KeyboardInterrupt
        cell.verdict, cell.reason = verdict, "the reason"
        cell.took_s = 3.0
        return cell, None

    monkeypatch.setattr(matrix_round, "judged", judged)
    monkeypatch.setattr(matrix_round, "in_parallel", lambda make, tasks, jobs: ((task, make(*about)) for task, about in tasks))
    monkeypatch.setattr(matrix, "measured_now", lambda: origin[0])
    monkeypatch.setattr(matrix, "write_page", lambda *what: [])
    monkeypatch.setattr(matrix, "publish_site", lambda: None)
    monkeypatch.setattr(matrix, "lacking", lambda scenario, stage: [])
    return verdicts, origin


def kept(folder, origin=OLD, stage="lua", scenario="slow_holder"):
    """Make a folder with a matrix of one cell. Return it."""
    folder.mkdir()
    cells = [Cell(stage=stage, scenario=scenario, claim="releases_only_its_own", verdict="KEPT")]
    save(folder / "matrix.json", Matrix(origin=origin or Origin(), cells=cells))
    return folder


def planned(plan, only_stages, only_scenarios):
    """Return the cells of a matrix of one stage and two scenarios."""
    return plan(only_stages or ("lua",), only_scenarios or ("rush", "slow_holder"))


def run(folder, scenario="rush", repeat=1, resume=False):
    """Measure lua under one scenario into a folder."""
    return matrix.run_matrix(("lua",), (scenario,), 1, repeat, folder, resume=resume)


def test_origin_is_noted(conducted, tmp_path):
    """matrix.json holds the judge, the commit and the versions."""
    run(tmp_path / "m")

    assert read(tmp_path / "m").origin == NEW


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"judge": "xxx"}, "the judge is xxx, and was aaa"),
        ({"commit": "xxx"}, "the commit is xxx, and was ccc"),
        ({"code": "xxx", "commit": "ccc+"}, "files of the lab, the locks or the scenarios have changed since"),
        ({"versions": {"redis-server": "Redis server v=8.2.1"}}, "redis-server is 8.2.1, and was 7.0.15"),
    ],
)
def test_a_mixture_is_refused(conducted, tmp_path, changed, words):
    """If the folder has cells of another judge or commit, the command is refused before the first run."""
    conducted[1][0] = msgspec.structs.replace(NEW, **changed)
    folder = kept(tmp_path / "m")
    conducted[0].append("interrupt")

    with pytest.raises(BadInput, match="--out: m keeps cells that cannot be compared with new ones") as refused:
        run(folder)
    with pytest.raises(BadInput, match=words):  # an earlier cell does not count a new run either
        run(folder, "slow_holder", repeat=2, resume=True)

    assert words in str(refused.value)
    assert "Give another folder" in str(refused.value)
    assert read(folder).origin == OLD


def test_cells_of_the_same_code_are_merged(conducted, tmp_path):
    """Cells of the same code are merged, even if the matrix itself has made the working tree dirty."""
    conducted[1][0] = msgspec.structs.replace(NEW, commit="ccc+")
    folder = kept(tmp_path / "m")

    run(folder, "rush")

    assert [cell.scenario for cell in read(folder).cells if cell.verdict] == ["rush", "slow_holder"]
    assert read(folder).origin.judge == conducted[1][0].judge


def test_matrix_without_origin(conducted, tmp_path):
    """Nothing is merged with a matrix whose judge and commit are not recorded."""
    folder = kept(tmp_path / "m", origin=None)

    assert read(folder).origin.sentence() == "Measured at commit unknown, by the judge unknown. Stores: unknown."
    assert [cell.verdict for cell in read(folder).cells] == ["KEPT"]
    with pytest.raises(BadInput, match="the judge is aaa, and was unknown"):
        run(folder)


def test_a_change_of_the_code_is_reported(conducted, tmp_path, capsys, monkeypatch):
    """If the lab changes while a matrix is measured, the matrix names no judge, and the change is printed."""
    now = iter([NEW, msgspec.structs.replace(NEW, judge="xxx")])
    monkeypatch.setattr(matrix, "measured_now", lambda: next(now))

    run(tmp_path / "m")

    assert read(tmp_path / "m").origin.judge == ""
    assert "the lab was changed while the matrix was measured: the judge is xxx, and was aaa" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("verdicts", "status", "cell"),
    [
        (["KEPT", "KEPT", "KEPT"], ExitStatus.GOOD, ("KEPT", 3, 3)),
        (["KEPT", "VOID", "KEPT"], ExitStatus.NOTHING_SHOWN, ("KEPT", 2, 3)),
        (["KEPT", "BROKEN", "KEPT"], ExitStatus.BROKEN, ("BROKEN", 1, 3)),  # the broken round is the cell
        (["VOID", "KEPT", "KEPT"], ExitStatus.NOTHING_SHOWN, ("KEPT", 2, 3)),  # the VOID round is not the cell, and is counted
    ],
)
def test_the_round_that_is_the_cell(conducted, tmp_path, verdicts, status, cell):
    """A cell counts the rounds with its verdict; a broken promise decides the cell, and a VOID round does not."""
    conducted[0].extend(verdicts)
    assert run(tmp_path / "m", repeat=3) == status

    (found,) = (one for one in read(tmp_path / "m").cells if one.verdict)
    assert (found.verdict, found.seen, found.tries) == cell


def test_a_matrix_is_resumed(conducted, tmp_path):
    """A resumed cell is run only as often as runs are missing in the folder, and counts the runs that it has."""
    run(tmp_path / "m")
    conducted[0].extend(["KEPT", "VOID", "interrupt"])
    run(tmp_path / "m", repeat=3, resume=True)
    run(tmp_path / "m", repeat=3, resume=True)

    (cell,) = (cell for cell in read(tmp_path / "m").cells if cell.verdict)
    assert cell.rounds == {"KEPT": 2, "VOID": 1}
    assert conducted[0] == ["interrupt"]

    with pytest.raises(KeyboardInterrupt):  # if the run that replaces a cell is interrupted, the cell keeps its earlier runs
        run(tmp_path / "m")
    assert [one.rounds for one in read(tmp_path / "m").cells if one.verdict] == [cell.rounds]


def test_a_matrix_is_written_after_each_round(conducted, tmp_path, monkeypatch):
    """The matrix is written after each round, so a killed command loses only the current round."""
    conduct, was_written = matrix.conduct, []

    def observed(*what, **how):
        was_written.append((tmp_path / "m" / "matrix.json").exists())
        return conduct(*what, **how)

    monkeypatch.setattr(matrix, "conduct", observed)
    run(tmp_path / "m", repeat=2)
    run(tmp_path / "m", repeat=3, resume=True)

    assert was_written == [False, True, True]


def test_fingerprint_follows_the_code(tmp_path):
    """Changed source gives another fingerprint; a file that is no source does not."""
    (tmp_path / "lab").mkdir()
    source = tmp_path / "lab" / "one.py"
    source.write_text("1", encoding="utf-8")
    first = environment.fingerprint(["lab"], tmp_path)

    (tmp_path / "lab" / "note.txt").write_text("1", encoding="utf-8")
    assert environment.fingerprint(["lab"], tmp_path) == first
    source.write_text("2", encoding="utf-8")
    assert environment.fingerprint(["lab"], tmp_path) != first
