"""Test a user's own scenario, a file in any folder, which is named by its path."""

import pytest

from lab.commands import up
from lab.errors import BadInput
from lab.scenario import reader

TEXT = 'title = "Few users"\ntests = "exclusive"\nrequests = 60\nusers = 10\ndanger.handovers = 5\n'


@pytest.fixture
def here(tmp_path, monkeypatch):
    """Return the current folder, with a scenario in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.toml").write_text(TEXT, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("nowhere.toml", None, ["no file 'nowhere.toml'", "`lab list scenarios`"]),
        ("my own.toml", TEXT, ["my own.toml: the file's name is the name of the scenario"]),
        (".toml", TEXT, ["the file's name is the name of the scenario"]),
        ("rush.toml", TEXT, ["rush.toml: the lab has a scenario 'rush' of its own; give the file another name"]),
        ("a.toml", TEXT + 'cures = "own"\n', ["a.toml: cures", "no scenario 'own'"]),
        # without a danger, a run in which nothing happened would be KEPT
        ("a.toml", TEXT.replace("danger.handovers = 5\n", ""), ["a.toml: [danger] is missing or empty"]),
        ("a.toml", "", ["a.toml: the key 'title' is missing"]),
    ],
)
def test_wrong_file_is_refused(here, name, text, words):
    """A file that is not a scenario is refused in one line, with its path."""
    if text is not None:
        (here / name).write_text(text, encoding="utf-8")

    with pytest.raises(BadInput) as refused:
        reader.load(name)

    assert [word for word in words if word not in str(refused.value)] == []
    assert "\n" not in str(refused.value)


def test_up_has_no_faults(here, monkeypatch):
    """``lab up`` starts the servers of a scenario, also of a file, and injects no fault."""
    fault = '[[faults]]\nkind = "freeze"\nfor_ms = 900\n'
    (here / "own.toml").write_text(f"{TEXT}replicas = 2\n{fault}", encoding="utf-8")
    started = []

    def cluster(supervisor, stage, one, *given, **also):
        started.append(one)
        raise BadInput("enough")

    monkeypatch.setattr(up, "cluster", cluster)
    with pytest.raises(BadInput, match="enough"):
        up.keep_up("lua", "./own.toml", 0, {})

    assert [(one.name, one.replicas, one.faults) for one in started] == [("own", 2, ())]
