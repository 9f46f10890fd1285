"""Test the command ``lab play``: the stages that it refuses, and when it opens the page in a browser."""

import pytest

from app.locks import stage
from lab.errors import NothingShown
from lab.explore.commands.play import has_browser, levels_of, play
from lab.ui.lesson import OPEN, steps


def test_no_screen_has_no_browser(monkeypatch):
    """Without a screen the page is not opened, because a browser in the terminal would occupy the terminal."""
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_browser()

    monkeypatch.delenv("DISPLAY")
    assert not has_browser()


def test_levels_of_several_stages():
    """A level with the moves of a level of another stage is written if that stage is named before its own."""
    found = [[level.name for level in levels_of([stage(name) for name in names])] for names in (["uuid", "lua"], ["lua", "uuid"])]

    assert ["lua-same-pause" in names for names in found] == [True, False]
    assert "lua-release" in found[1]


def test_levels_of_the_lesson():
    """The stages that `make class` gives to `lab play` have all levels that its lesson opens."""
    pages = [action.page.stem for place in steps() for action in place.step.actions if action.kind == OPEN]
    stages = dict.fromkeys(page.partition("-")[0] for page in pages)

    assert {*pages} <= {level.name for level in levels_of([stage(name) for name in stages])}


def test_a_stage_without_levels(tmp_path):
    """A stage that asks several servers has no levels, and is refused by name with the reason."""
    with pytest.raises(NothingShown, match="redlock has no page: "):
        play(("uuid", "redlock"), tmp_path / "pages", open_it=False)

    assert not (tmp_path / "pages").exists()
