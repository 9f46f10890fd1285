"""The set-up, as far as it needs no network."""

from __future__ import annotations

from pathlib import Path

from lab import bootstrap
from lab.errors import ExitStatus
from tests.every import every


@every("letter", ['"', "$", "`", "\\", ":", "\n"])
def test_folder_that_no_virtual_environment_can_have(monkeypatch, capsys, letter):
    """A folder whose path would break or run in the first lines of a program is refused before anything is installed."""
    monkeypatch.setattr(bootstrap, "HOME", Path(f"/home/me/a{letter}lab"))

    assert bootstrap.main() == ExitStatus.CANNOT_RUN

    words = capsys.readouterr().err
    assert f"has {letter!r} in it" in words
    assert "move the project" in words


def test_folder_with_a_space():
    """A space, an apostrophe and letters of other alphabets are no problem."""
    bootstrap._check_folder(Path("/home/mé/it's my läb/实验"))
