"""The links of the documents: a dead one is found, in Markdown and in HTML, and one to what git keeps is not."""

from lab.paths import HOME
from tools.book import links


def test_dead_links_are_found(tmp_path, monkeypatch):
    """A file that git does not keep and a heading that is not there are dead; code and addresses of other sites are no links."""
    page = tmp_path / "page.md"
    page.write_text(
        '# One\n[a](#one) [b](#two) [c](none.md) [d](https://e.org/x) `[e](f.md)` ![p](lost.svg) <img src="gone.svg">\n',
        encoding="utf-8",
    )
    picture = tmp_path / "lost.svg"
    monkeypatch.setattr(links, "HOME", tmp_path)
    monkeypatch.setattr(links, "kept", lambda: frozenset({page, picture}))

    found = [line.rpartition(" ")[2] for line in links.wrong([page])]

    assert found == ["#two", "none.md", "gone.svg"]


def test_git_keeps_the_documents():
    """The list of what git keeps has files and their folders, and no page that `make site` writes."""
    assert {HOME / "README.md", HOME / "docs"} <= links.kept()
    assert HOME / "reports" / "reference" / "index.html" not in links.kept()
