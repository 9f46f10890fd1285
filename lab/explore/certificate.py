"""A certificate: all states of the searches in which promises hold, and all events between them, for a sceptic to check.

What was decided may be wrong where the explorer is wrong: it folds, it reduces, it has rules. So a certificate is written without
any of them: no client stands for another, no order is left out. The marks are not the ghosts of ``rules``, but those of
``check_certificate``, the program that checks it. That program needs a Redis, and nothing of the lab. The format is in
``docs/certificate.md``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec

from app.lock import Claim
from lab.explore import check_certificate as checker
from lab.explore.certified import NoCertificate, Section
from lab.explore.code.program import servers_of
from lab.explore.decision import HOLDS, Decision
from lab.explore.store.real_redis import RealRedis


def refusal(decision: Decision) -> str:
    """Return why there can be no certificate of a decision; empty where there can be one."""
    broken = [claim.name for claim in Claim if claim in decision.claims & decision.broken().keys()]
    if broken:
        return f"{decision.stage.name} breaks {', '.join(broken)}"
    pairs = zip(decision.questions, decision.answers, strict=True)
    if any(question.needed and not answer.is_decided for question, answer in pairs) or not decision.of_status(HOLDS):
        return f"not everything is decided of {decision.stage.name}"
    if servers_of(decision.stage) > 1:
        return "a lock on several servers has too many states"
    return ""


def write(decision: Decision, real: RealRedis, path: Path) -> Iterator[str]:
    """Write the certificate of a decision, and yield what is in it. Raises NoCertificate, and writes nothing then.

    Of the searches it has those that a promise needs.
    """
    if why := refusal(decision):
        raise NoCertificate(why)
    stage, sections = decision.stage, []
    scripts: set[bytes] = set()
    for question, answer in zip(decision.questions, decision.answers, strict=True):
        if question.needed:
            section = Section(stage, question, answer, real, decision.servers)
            try:
                sections.append(section.lines())
            except NoCertificate as reason:
                raise NoCertificate(f"in the search with {section.about.words}, {reason}") from None
            scripts |= section.scripts
    about = {
        "format": checker.FORMAT,
        "stage": stage.lookup or stage.name,
        "code": hashlib.sha256(Path(str(stage.path)).read_bytes()).hexdigest(),
        "redis": decision.redis,
        "promises": [claim.name for claim in decision.of_status(HOLDS)],
        "searches": len(sections),
        "scripts": [real.scripts[sha.decode()] for sha in sorted(scripts)],
    }
    encode = msgspec.json.Encoder().encode
    with path.open("wb") as out:
        out.writelines(encode(line) + b"\n" for lines in ([["certificate", about]], *sections) for line in lines)
    ends = [lines[-1] for lines in sections]
    states, edges = (sum(end[place] for end in ends) for place in (1, 2))
    size = f"{path.stat().st_size // 1024} KiB"
    yield f"Certificate: {path}: {len(sections)} searches, {states} states, {edges} edges, {size}."
    yield f"Check it: python {Path(checker.__file__)} {path}"
