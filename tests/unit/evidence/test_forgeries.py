"""Whatever a stranger does to a run folder: no traceback, no pass without a word, and no verdict that is turned."""

import shutil

import pytest

from lab.commands.check import check_again
from lab.errors import BadInput, ExitStatus
from tests.every import every
from tests.forgeries import FORGERIES, recorded


@pytest.fixture
def runs(tmp_path, capsys):
    """The folders of a sound run and of a broken one, as they were recorded: the check finds no damage."""
    folders = {lossy: recorded(tmp_path / f"lossy {lossy}", lossy, keeps_inventory=True) for lossy in (False, True)}
    assert [check_again(str(one), as_json=False) for one in folders.values()] == [ExitStatus.GOOD, ExitStatus.BROKEN]
    assert "damaged" not in capsys.readouterr().out
    return folders


@every("lossy", [False, True])
@every("name", FORGERIES)
def test_forgery(tmp_path, runs, capsys, name, lossy):
    """The check says what is wrong. A sound run is never accused, and a broken run is never acquitted."""
    folder = shutil.copytree(runs[lossy], tmp_path / "run")

    FORGERIES[name](folder)
    try:
        status, said = check_again(str(folder), as_json=False), capsys.readouterr().out
    except BadInput as error:
        status, said = ExitStatus.BAD_INPUT, str(error)

    said = " ".join(said.split())
    verdict_only = "verdict.json disagrees" in said and "damaged" not in said  # it is no evidence, and the check states it
    if verdict_only:
        assert status == (ExitStatus.BROKEN if lossy else ExitStatus.GOOD)
    else:
        allowed = {ExitStatus.BAD_INPUT, ExitStatus.NOTHING_SHOWN} | ({ExitStatus.BROKEN} if lossy else set())
        assert status in allowed
        assert status == ExitStatus.BAD_INPUT or "evidence is damaged: " in said
