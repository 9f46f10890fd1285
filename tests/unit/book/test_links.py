"""Test the links of the documents: a dead link is found, in Markdown and in HTML."""

import re
from typing import get_args

import pytest

from app import journal
from app.lock import Claim
from app.locks import stages
from lab.errors import MEANINGS
from lab.evidence.fault_record import FaultRecord
from lab.evidence.history import KeyEvent
from lab.evidence.loss import GrantFacts, Loss
from lab.paths import DOCS
from lab.scenario import reader
from lab.scenario.faults import faults
from lab.scenario.options import OPTIONS
from lab.scenario.requirements import MEASURES
from tools.book import links


def test_dead_links_are_found(tmp_path, monkeypatch):
    """A link is dead if its file or its heading does not exist; code and other sites are not checked."""
    page = tmp_path / "page.md"
    page.write_text(
        '# One\n[a](#one) [b](#two) [c](none.md) [d](https://e.org/x) `[e](f.md)` ![p](lost.svg) <img src="gone.svg">\n',
        encoding="utf-8",
    )
    (tmp_path / "lost.svg").touch()
    monkeypatch.setattr(links, "HOME", tmp_path)

    found = [line.rpartition(" ")[2] for line in links.wrong([page])]

    assert found == ["#two", "none.md", "gone.svg"]


def test_tables_by_hand_are_complete():
    """The tables of options, exit statuses, measures, faults, scenarios and claims have a row for each that the lab has."""
    names = ("running", "scenarios", "containers")
    running, scenarios, containers = ((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in names)

    assert [one.flag for one in OPTIONS.values() if f"| `{one.flag}` | `{one.name.upper()}` | {one.help} |" not in running] == []
    assert len(re.findall(r"^\| `--[\w-]+` \| `\w+` \|", running, re.MULTILINE)) == len(OPTIONS)
    assert re.findall(r"^\| `(\w+)` \| [a-z]", scenarios, re.MULTILINE) == list(MEASURES)
    assert [status for status, meaning in MEANINGS.items() if f"| {status:d} | {meaning} |" not in running] == []
    assert [name for name, what in MEASURES.items() if f"| `{name}` | {what} |" not in scenarios] == []
    assert [name for name in faults() if f"`{name}`" not in containers] == []
    assert [
        one for one in map(reader.load, reader.names()) if f"| `{one.name}` | {one.title} | `{one.tests.name}` |" not in scenarios
    ] == []
    assert [claim for claim in Claim if f"| `{claim.name}` | {claim.value} |" not in scenarios] == []


def test_data_of_a_run_is_explained():
    """docs/data.md names only columns that the records of a run have."""
    records = {event.__struct_config__.tag: (event,) for event in get_args(journal.AnyEvent)}
    records |= {"server.jsonl": (KeyEvent,), "faults.jsonl": (FaultRecord,), "losses.jsonl": (Loss, GrantFacts)}
    rows = dict(re.findall(r"^\| `(\S+)` \| (.+) \|$", (DOCS / "data.md").read_text(encoding="utf-8"), re.MULTILINE))

    for name, kinds in records.items():
        assert {*re.findall(r"`(\w+)`", rows.get(name, ""))} <= {field for kind in kinds for field in kind.__struct_fields__}, (
            name
        )


@pytest.mark.parametrize("page", [DOCS / "README.md", DOCS / "zh" / "README.md"], ids=["en", "zh"])
def test_chapters_in_the_order_of_the_course(page):
    """The list of chapters has all stages, in the order of the ladder."""
    rows = re.findall(r"^\| (\d+) \| .*?`(\w+)`", page.read_text(encoding="utf-8"), re.MULTILINE)

    assert rows == [(str(place), name) for place, name in enumerate(stages(), 1)]
