"""The judge of pages is judged: each kind of wrong is noticed, and what is right is not accused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chromium import unfit

PAGE = '<!doctype html><html lang="en"><head><title>a page</title></head><body><main><h1>A page</h1>{}</main></body></html>'
WRONGS = {
    "on the console": "<script>console.error('no')</script>",
    "uncaught": "<script>setTimeout(() => { throw new Error('no') })</script>",
    "leave the machine": '<img alt="a picture" src="http://192.0.2.1/picture.png">',
    "by a name": '<img alt="a picture" src="https://pictures.example/picture.png">',
}
UNFIT = {"color-contrast": '<p style="color: #bbb">pale</p>', "label": "<input>"}


@pytest.fixture
def written(tmp_path):
    def write(body: str) -> Path:
        path = tmp_path / "page.html"
        path.write_text(PAGE.format(body), encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize("kind", WRONGS)
def test_what_a_page_does_wrong_is_noticed(browser, written, kind):
    page = browser.open(written(WRONGS[kind]))
    page.evaluate("new Promise((done) => setTimeout(done))")  # the browser reports a later error later

    assert browser.wrongs
    browser.wrongs.clear()


@pytest.mark.parametrize("rule", UNFIT)
def test_axe_findings_are_noticed(browser, written, rule):
    """A page that some people cannot read or use fails the look."""
    page = browser.open(written(UNFIT[rule]))

    with pytest.raises(AssertionError, match=rule):
        browser.look(page, "unfit")


@pytest.mark.parametrize("odd", ["color: #bbb", "background: #667", "opacity: .3"])
def test_one_pale_text_among_many_is_noticed(browser, written, odd):
    """Of texts that look alike, one is looked at. A text with another colour, or on another background, is not alike."""
    rows = [f"<tr{look}><td><b>cell</b></td></tr>" for look in ("", "", f' style="{odd}"', "")]
    page = browser.open(written(f"<table>{''.join(rows)}</table>"))

    assert [one.partition(":")[0] for one in unfit(page)] == ["color-contrast"]


def test_overflow_on_a_phone_is_noticed(browser, written):
    """A page that is wider than a phone fails the look."""
    page = browser.open(written('<div style="width: 600px">wide</div>'))

    with pytest.raises(AssertionError, match="sticks out of a phone"):
        browser.look(page, "sticks-out")


def test_a_page_without_fault_is_not_accused(browser, written):
    browser.look(browser.open(written("<p>all is well</p>")), "well")

    assert browser.wrongs == []
