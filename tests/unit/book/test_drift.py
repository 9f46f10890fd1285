"""Test the list of generated files that have drifted, and the comparison of two pictures."""

import re

import pytest
from click.testing import CliRunner

from lab.errors import ExitStatus
from lab.paths import REFERENCE
from tools.book import generate
from tools.book.__main__ import book as command
from tools.book.generate import same_picture

DRAWN = REFERENCE / "experiments" / "ttl.svg"
PAGE = "<!-- generated: figure none lost -->{}<!-- end -->"


@pytest.fixture
def book(tmp_path, monkeypatch):
    """Return the folder of a book with one page and one picture, which are up to date."""
    monkeypatch.setattr("tools.book.__main__.HOME", tmp_path)
    monkeypatch.setattr(generate, "documents", lambda: [tmp_path / "page.md"])
    drawn = tmp_path / "drawn" / "one.svg"
    monkeypatch.setattr(generate, "pictures", lambda: {drawn: lambda folder: written(folder / "one.svg", "<svg/>")})
    monkeypatch.setattr("tools.book.links.wrong", lambda documents: [])
    written(tmp_path / "page.md", generate.fill(PAGE.format(""), tmp_path / "page.md"))
    drawn.parent.mkdir()
    written(drawn, "<svg/>")
    return tmp_path


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_drifted_files_are_listed(book):
    """`python -m tools.book --check` exits with 1 and names each document and picture that differs; it changes none."""
    before = CliRunner().invoke(command, ["--check"], standalone_mode=False)
    written(book / "page.md", PAGE.format("x"))
    written(book / "drawn" / "one.svg", "<svg></svg>")

    after = CliRunner().invoke(command, ["--check"], standalone_mode=False)

    assert (before.return_value, before.output) == (ExitStatus.GOOD, "")
    assert after.return_value == ExitStatus.BROKEN
    assert after.output.splitlines() == ["differs: drawn/one.svg", "differs: page.md"]
    assert (book / "page.md").read_text(encoding="utf-8") == PAGE.format("x")


def test_same_picture():
    """Two pictures differ if a text, a colour or the place of a shape differs; ids and last digits make no difference."""
    text = DRAWN.read_text(encoding="utf-8")
    place = re.search(r"M (\d+\.\d+) ", text[text.index("LineCollection") :])
    changed = {
        "ids": text.replace("url(#p", "url(#q"),
        "digits": text.replace(f"M {place[1]} ", f"M {float(place[1]) + 0.01:.6f} "),
        "a text": text.replace("</text>", "!</text>", 1),
        "a shape": text.replace(f"M {place[1]} ", f"M {float(place[1]) + 40:.6f} "),
        "a colour": re.sub(r"stroke: #[0-9a-f]{6}", "stroke: #123456", text),
    }

    same = [name for name, new in changed.items() if same_picture(new, text)]

    assert [name for name, new in changed.items() if new == text] == []
    assert same == ["ids", "digits"]
