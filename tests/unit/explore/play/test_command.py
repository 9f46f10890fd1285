"""Test the command ``lab play``: the stages that it refuses, and when it opens the page in a browser."""

import pytest

from lab.errors import NothingShown
from lab.explore.commands.play import has_browser, play


def test_no_screen_has_no_browser(monkeypatch):
    """Without a screen the page is not opened, because a browser in the terminal would occupy the terminal."""
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_browser()

    monkeypatch.delenv("DISPLAY")
    assert not has_browser()


def test_a_stage_without_levels(tmp_path):
    """A stage that asks several servers has no levels, and is refused by name with the reason."""
    with pytest.raises(NothingShown, match="redlock has no page: "):
        play(("uuid", "redlock"), tmp_path / "pages", open_it=False)

    assert not (tmp_path / "pages").exists()
