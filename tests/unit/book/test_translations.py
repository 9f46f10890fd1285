"""The Chinese pages: each has what its English page has, and a person has compared them as they are now."""

from dataclasses import replace
from pathlib import Path

import pytest

from app.locks import stages
from lab.errors import BadInput
from tests.every import every
from tools.book import translations
from tools.book.translations import NOT_YET, README, Page

ENGLISH = """\
# A page

It has <!-- generated: figure none lost -->12<!-- end --> of 5000.

## Run it

```sh
make class   # a lesson
```
"""
CHINESE = """\
# 一页

<!-- compared with docs/a.md: not yet -->

5000 里有 <!-- generated: figure none lost -->12<!-- end -->。

## 运行

```sh
make class   # 一堂课
```
"""
NAME = "docs/zh/a.md"


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A project with one English page, and its Chinese page."""
    monkeypatch.setattr(translations, "MUST", ())
    for name, text in (("README.md", "# One\n"), ("docs/a.md", ENGLISH), (NAME, CHINESE)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / README).write_text("# 一\n\n<!-- compared with README.md: not yet -->\n", encoding="utf-8")
    return tmp_path


def change(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")


@every("page", translations.pages)
def test_pages_were_compared(page):
    """Both have the same generated parts, commands, headings and figures; the English page is as when a person compared the two.

    `python -m tools.book` lists what to compare again.
    """
    assert translations.differences(page) == []
    again = f"compare {page.chinese} with {page.english}, then run `.venv/bin/python -m tools.book --compared {page.chinese}`"

    assert page.compared_with != NOT_YET, f"never compared: {again}"
    assert not translations.is_stale(page), f"{page.english} has changed: {again}"


def test_missing_page_is_refused(home, monkeypatch):
    """A Chinese page that there must be is missed by its name; so is the English page of another."""
    monkeypatch.setattr(translations, "MUST", (translations.CHINESE / "class.md",))
    with pytest.raises(BadInput, match=r"docs/zh/class\.md is missing"):
        translations.pages(home)

    monkeypatch.setattr(translations, "MUST", ())
    (home / "docs" / "a.md").unlink()
    with pytest.raises(BadInput, match=r"docs/zh/a\.md translates docs/a\.md, which is not there"):
        translations.pages(home)


def test_changed_english_page_is_reported(home):
    """After a change of the English prose the Chinese page is to be compared again; a new figure in a part changes nothing."""
    translations.record_comparison(NAME, home)
    change(home / "docs" / "a.md", "-->12<!--", "-->13<!--")
    assert translations.to_do(home) == ["to do: README.zh.md was never compared with README.md"]

    before = (home / NAME).read_bytes()
    change(home / "docs" / "a.md", "It has", "It had")
    assert translations.to_do(home)[1:] == [
        f"to do: docs/a.md has changed: compare {NAME} with it, then `.venv/bin/python -m tools.book --compared {NAME}`"
    ]
    assert translations.is_stale(Page(Path(NAME), home))
    assert (home / NAME).read_bytes() == before

    translations.record_comparison(NAME, home)
    assert len(translations.to_do(home)) == 1


def test_stage_without_chinese(monkeypatch):
    """A stage whose title has no Chinese on the lab's page is to be translated."""
    mine = replace(stages()["lua"], story=replace(stages()["lua"].story, title="Mine."))
    monkeypatch.setattr(translations, "stages", lambda: {"lua": stages()["lua"], "mine": mine})

    assert translations.new_stages() == ["to do: the Chinese title and idea of mine in lab/language/zh/stages.toml"]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("figure none lost", "figure none final", "the generated part is missing: figure none lost"),
        ("make class ", "make ui ", "the commands differ"),
        ("## 运行", "### 运行", "the headings differ"),
        ("5000 里", "500 里", "the English page does not have the figure 500"),
    ],
)
def test_different_page_is_refused(home, old, new, why):
    """A page that lacks a part, a command, a heading, or has another figure, is not recorded as compared."""
    change(home / NAME, old, new)

    with pytest.raises(BadInput, match=why):
        translations.record_comparison(NAME, home)

    assert NOT_YET in (home / NAME).read_text(encoding="utf-8")


def test_page_without_a_comparison(home):
    """A page that does not say with what it was compared is refused; so is an unknown page."""
    change(home / NAME, "compared with docs/a.md", "compared with docs/b.md")

    with pytest.raises(BadInput, match=r"docs/zh/a\.md needs the comment <!-- compared with docs/a\.md: not yet -->"):
        translations.to_do(home)
    with pytest.raises(BadInput, match=r"no Chinese page 'docs/zh/b\.md'"):
        translations.record_comparison("docs/zh/b.md", home)


def test_links_of_parts_lead_to_the_same_files(home):
    """A link of a generated part leads to the same file from the Chinese page, or to that file in Chinese."""
    page = Page(translations.CHINESE / "ladder" / "none.md", home)

    made = translations.relinked("[a](../a.md) [b](local.md) [c](../../README.md#x) [d](https://e.org/f)", page)

    assert made == "[a](../a.md) [b](../../ladder/local.md) [c](../../../README.md#x) [d](https://e.org/f)"
