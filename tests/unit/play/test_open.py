"""Where the page is opened by itself."""

from __future__ import annotations

import webbrowser

from lab.commands.play import has_browser


def test_no_screen_has_no_browser(monkeypatch):
    """Without a screen, the page is not opened: a browser in the terminal would take the terminal away."""
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr(webbrowser, "get", object)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":0")
    assert has_browser()

    monkeypatch.delenv("DISPLAY")
    assert not has_browser()
