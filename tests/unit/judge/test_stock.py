"""A sale: a number of items, a decision before each write, and items that are sold twice."""

import pytest

from lab.evidence.run_folder import save
from lab.judge.fact import Code, Fact
from lab.judge.verdict import judge
from lab.language import Language
from lab.report.run_words import RunWords
from tests.builders import found, record_of


@pytest.mark.parametrize("read", [1, None])
def test_sold_out_is_an_answer(made, read):
    """A request that finds nothing left is answered. It is no write, no loss, and not a write that may have happened."""
    made.increment("a", 0, 0).sold_out("b", read, at=(10, 11, 12), replica="replica-2")

    findings = made.analyse(final=1, stock=1)

    assert (findings.account.writes, findings.account.lost, findings.account.disagreement) == (1, 0, None)
    assert not found(findings)
    assert not findings.mismatches
    assert (findings.measures["served_percent"], findings.measures["answered_beyond_stock"]) == (100, 1)


def test_oversold(made):
    """Two requests that read the same number sell one item twice."""
    made.increment("a", 0, 0, at=(0, 1, 4, 5)).increment("b", 0, 1, at=(1, 2, 6, 7), replica="replica-2")
    made.sold_out("c", 1, at=(10, 11, 12), replica="replica-3")
    save(made.folder / "run.json", record_of({"stock": 1, "requests": 3, "danger": {"answered_beyond_stock": 2}}, final=1))

    judgement, _ = judge(made.folder)

    assert (judgement.stock, judgement.oversold, judgement.sold_out, judgement.lost) == (1, 1, 1, 1)
    words = RunWords(judgement, 0, Language.ENGLISH)
    assert [part.words for part in words.parts() if part.kind == "sold-out" and part.number] == ["1 found nothing left"]
    assert judgement.oversold == 1
    assert judgement.verdict == "ADMITTED"


def test_sold_out_needs_a_journal(made):
    """An answer that nothing is left counts only where the replica's journal says the same."""
    made.increment("a", 0, 0).answer("b", "sold_out", "replica-1")

    assert made.analyse(final=1, stock=1).mismatches == [Fact(Code.SOLD_OUT_NOT_JOURNALED, request="b", replica="replica-1")]
