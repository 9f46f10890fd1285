"""A verdict as sentences."""

from __future__ import annotations

import msgspec

from app.lock import Claim
from lab.evidence.loss import Mechanism
from lab.judge.verdict import weigh
from lab.language.choice import Language
from lab.story.verdict import in_words, promise
from tests.builders import findings_of_ten, record_of_ten
from tests.every import every


@every("language", Language)
def test_the_broken_promise_is_named(language):
    """A run that breaks another promise than the one under test names the broken one in words, and no other."""
    broken = weigh(record_of_ten([Claim.exclusive.name]), findings_of_ten({Mechanism.GRANTED_TWICE: 3}))
    judgement = msgspec.structs.replace(broken, claim=Claim.survives_a_freeze.name, claimed=False)

    said = in_words(judgement, language)

    assert promise(Claim.exclusive.name, language) in said
    assert promise(Claim.survives_a_freeze.name, language) not in said
    assert Claim.exclusive.name not in said.split()
