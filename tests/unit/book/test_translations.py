"""Test that a person has compared each Chinese page with its current English page."""

import pytest

from tools.book import translations

NAME = "docs/zh/a.md"
CHINESE = """\
# 一页

<!-- compared with docs/a.md: never -->

5000 里有 <!-- generated: figure none lost -->12<!-- end -->。
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    """Return the folder of a project with two English pages and their Chinese pages; one pair was never compared."""
    monkeypatch.setattr(translations, "HOME", tmp_path)
    english = "# A page\n\nIt has <!-- generated: figure none lost -->12<!-- end --> of 5000.\n"
    for name, text in (("README.md", "# One\n"), ("docs/a.md", english), (NAME, CHINESE)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "README.zh.md").write_text(f"# 一\n{translations.comment(tmp_path / 'README.md')}\n", encoding="utf-8")
    return tmp_path


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_pages_were_compared():
    """No English page has changed since a person compared it with its Chinese page."""
    assert translations.stale() == []


def test_changed_english_page_is_reported(home):
    """A change of the English prose demands a new comparison; a new figure in a generated part does not."""
    again = [f"compare {NAME} with docs/a.md, then run `.venv/bin/python -m tools.book --compared {NAME}`"]
    assert translations.stale() == again

    translations.record_comparison(NAME)
    change(home / "docs" / "a.md", "-->12<!--", "-->13<!--")
    assert translations.stale() == []

    change(home / "docs" / "a.md", "It has", "It had")
    assert translations.stale() == again
