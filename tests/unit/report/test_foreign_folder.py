"""Test the folder of a run from elsewhere: the report writes only into it, and no text of it breaks the page."""

from html import escape
from pathlib import Path

import pytest

from lab.errors import BadInput
from lab.evidence.run_folder import load, save
from lab.judge.verdict import judge
from lab.report.comparison import report_many
from lab.report.run_page import report_run
from tests.builders import Made, made_run, record_of
from tests.every import every
from tests.forgeries import of_the_run


def test_writes_through_no_link(tmp_path):
    """If a file of a report is a link to a user's file, the report replaces the link, and the user's file stays."""
    folder = made_run(tmp_path / "run")
    written = [path.name for path in report_run(folder)] + [
        "trace.json",
        "verdict.json",
        "losses.jsonl",
    ]
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for name in set(written) - {"verdict.json"}:
        (folder / name).unlink()
        (folder / name).symlink_to(precious)

    report_run(folder)

    assert precious.read_text() == "mine"
    assert not [name for name in written if (folder / name).is_symlink()]
    assert len(written) > 5


@every("name", ["../../../escaped", "/escaped", ".", "..", "a/b", "", "x" * 300])
def test_name_is_no_path(tmp_path, name):
    """A run whose name is not the name of a folder is refused before anything is written."""
    folders = [made_run(tmp_path / one) for one in ("one", "other")]
    save(folders[1] / "verdict.json", judge(folders[1])[0])
    of_the_run(run=name)(folders[0])

    with pytest.raises(BadInput, match="is not a valid name of a folder"):
        report_many(folders, tmp_path / "out")

    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("text", ["<!--<script>", "</script><img src=x onerror=alert(1)>"])
def test_text_of_a_run_is_text(tmp_path, text, undrawn):
    """A request that looks like HTML is shown as text: it hides no part of the page, and ends no script."""
    made = Made(Path(tmp_path / "run"))
    made.increment(text, 0, 0, key=f"lab:{text}", answered=1)
    save(made.folder / "run.json", record_of({"requests": 1}, {"claims": ["exclusive"]}, final=1))

    page, *_ = report_run(made.folder, judge(made.folder))

    html = page.read_text()
    assert text not in html
    assert escape(text) in html
    assert load(made.folder).final == 1
