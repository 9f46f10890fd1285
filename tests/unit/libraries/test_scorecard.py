"""Test the tables of the scorecard's page."""

import msgspec
import pytest

from lab.evidence.record_lines import write_line
from lab.language import Language
from lab.libraries import scorecard
from lab.own_lock.page import TestedCell, TestedClaim, TestedLock

BROKEN, SHORT = "broken", "libraries"


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Return a function that keeps the result of a library, and returns a table of the page."""

    def table(name: str, tested: TestedLock) -> str:
        write_line(tmp_path / scorecard.RESULTS, "pypi_redis", msgspec.json.encode(tested))
        return getattr(scorecard, name)(scorecard.entries(tmp_path))

    return table


def cell(scenario: str, claim: str, lost: int, **rounds: int) -> TestedCell:
    """Return the runs of a scenario, which lost this many increments."""
    command = f"lab run {scenario} --stage libraries/pypi_redis.py"
    verdict = next(iter(rounds))
    return TestedCell(
        stage="s", scenario=scenario, claim=claim, verdict=verdict, rounds=rounds, lost=lost, reason="it was so.", command=command
    )


def lock(*claims: TestedClaim, **about: str) -> TestedLock:
    """Return a tested library."""
    return TestedLock(lock="libraries/pypi_redis.py", stage="s", library="redis 1.0", claims=list(claims), about=about)


def test_kept_results_are_in_both_languages():
    """The reason of each kept result is made in both languages from codes and figures; two results have no codes."""
    cells = [cell for one in scorecard.entries(scorecard.FOLDER) for claim in one.tested.claims for cell in claim.cells]

    assert len([one for one in cells if one.grounds is None]) == 2
    for one in cells:
        said = {one.why_of(one.claim, language) for language in Language}
        assert one.grounds is None or len(said) == 2


def test_claim_without_a_promise_is_never_broken(made):
    """A claim that a library fails without a promise is in the table of all claims, and not among the broken promises."""
    claim = TestedClaim(
        claim="held_to_the_end", promised=False, cells=[cell("work_outlasts_ttl", "held_to_the_end", 4, ADMITTED=3)]
    )

    assert made(BROKEN, lock(claim)) == "None.\n"
    assert "fails 3 of 3, not promised, 4 lost" in made(SHORT, lock(claim))


def test_break_in_some_rounds_is_not_published(made):
    """Two broken rounds of three are not enough: the table has the figures, and the promise is not called broken."""
    claim = TestedClaim(claim="exclusive", words="x", link="https://a/b", cells=[cell("rush", "exclusive", 7, BROKEN=2, KEPT=1)])

    assert made(BROKEN, lock(claim)) == "None.\n"
    assert "NOT DECIDED: BROKEN 2 of 3, KEPT 1 of 3" in made(SHORT, lock(claim))
