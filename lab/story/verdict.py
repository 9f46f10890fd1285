"""Put a judgement into words: the verdict, its reasons, and the evidence for each broken promise."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import groupby

import msgspec
from msgspec.structs import asdict, replace

from app.lock import Claim
from lab.evidence.loss import Mechanism
from lab.evidence.run_record import Ending
from lab.judge.fact import Code, Fact
from lab.judge.judgement import Judgement, Verdict, Violation
from lab.language import Language
from lab.scenario.requirements import MEASURES
from lab.story.say import ENGLISH, listed, mechanism, text, translated, words

HEADS = (Code.DANGER_NOT_REACHED, Code.NOBODY_SERVED)  # the facts that follow explain them


class Grounds(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The part of a judgement that gives the reasons of its verdict, without examples."""

    claim: str
    verdict: Verdict
    why: list[Fact] = []
    requests: int
    failed: int = 0
    unknown: int = 0
    lost_otherwise: int = 0
    lost_by: dict[Mechanism, int] = {}
    violations: list[Violation] = []
    clocks: int = 1
    clock_error_ms: float = 0.0
    clock_drift_ppm: tuple[float, float] | None = None


def grounds(judgement: Judgement) -> Grounds:
    """Return the part of a judgement that gives the reasons of its verdict."""
    told = (one for one in judgement.violations if one.breaks_promise or one.claim == judgement.claim)
    names = set(Grounds.__struct_fields__) - {"violations"}
    return Grounds(**{name: getattr(judgement, name) for name in names}, violations=[replace(one, evidence=[]) for one in told])


def fact(found: Fact, language: Language = ENGLISH) -> str:
    """Return one fact."""
    places = asdict(found) | {"name": found.code, "measure": found.name} | _lists(found, language)
    if found.code is Code.DAMAGED:
        places["what"] = text("damage", found.name, language, detail=found.detail)
    if found.code is Code.ENDED:
        places["how"] = text("ended", found.name, language, detail=found.detail)
    if found.code is Code.MEASURE_SHORT:
        places["measure"] = measure(found.name, language)
    return text("fact", language=language, **places)


def _lists(found: Fact, language: Language) -> dict[str, str]:
    """Return the names and the values of a fact, each in a row."""
    return {"several": listed(found.several, language), "values": listed([*map(str, found.values)], language)}


def seen_facts(violation: Violation, language: Language = ENGLISH) -> str:
    """Return the facts of a broken promise that were seen, in words."""
    return _joined((fact(each, language) for each in violation.seen), language)


def why(judgement: Judgement | Grounds, language: Language = ENGLISH) -> str:
    """Return the reasons of a verdict, as a sentence without its end."""
    reasons = _joined(_reasons(judgement, language), language)
    if not judgement.clock_error_ms:
        return reasons
    if judgement.clock_drift_ppm is None:
        drift = text("verdict", "drift_unknown", language)
    else:
        ppm, error_ppm = judgement.clock_drift_ppm
        drift = text("verdict", "drift", language, ppm=f"{ppm:g}", error=f"{error_ppm:g}")
    return text("verdict", "by_clocks", language, judgement.clocks, why=reasons, ms=f"{judgement.clock_error_ms:g}", drift=drift)


def _reasons(judgement: Judgement | Grounds, language: Language) -> Iterator[str]:
    if judgement.verdict is Verdict.BROKEN:
        yield from (_broken(one, language) for one in judgement.violations if one.breaks_promise)
    elif judgement.verdict is Verdict.ADMITTED:
        yield from (because(one, language) for one in judgement.violations if one.claim == judgement.claim)
    elif not judgement.why:
        yield text("verdict", judgement.verdict, language)
    if judgement.verdict is Verdict.KEPT:
        yield from _others(judgement, language)
    yield from _facts(judgement, language)


def _facts(judgement: Judgement | Grounds, language: Language) -> Iterator[str]:
    """Yield the facts of the reason. Damage is one reason; so is all doubt about a break, and a head with its consequences.

    If a run was interrupted and shows nothing, the interruption is the only reason: all other faults follow from it.
    """
    cut = [one for one in judgement.why if one.code is Code.ENDED and Ending(one.name).is_interrupt]
    facts = cut if cut and judgement.verdict is Verdict.VOID else judgement.why
    is_broken = judgement.verdict is Verdict.BROKEN
    of_damage = "and_damaged" if is_broken else "damaged"
    head = ""
    for is_damage, together in groupby(facts, lambda one: is_broken or one.code is Code.DAMAGED):
        facts_in_words = [(one.code in HEADS, fact(one, language)) for one in together]
        if is_damage:
            comma: str = words(language)["mark"]["comma"]
            yield text("verdict", of_damage, language, what=comma.join(each for _, each in facts_in_words))
            continue
        for is_head, each in facts_in_words:
            if is_head:
                head = each
            else:
                yield head + each
                head = ""


def _broken(violation: Violation, language: Language) -> str:
    if not violation.claimed:
        return because(violation, language)
    claim = promise(violation.claim, language).strip(".。")
    return text("verdict", "claimed", language, promise=claim, because=because(violation, language))


def because(violation: Violation, language: Language = ENGLISH) -> str:
    """Return the evidence for a broken promise, and the mechanism."""
    return _in_form("because", violation, language)


def _in_form(form: str, violation: Violation, language: Language) -> str:
    cause = mechanism(violation.mechanism, language)
    if not violation.seen:  # only a matrix cell that was written before cells kept these facts
        return cause
    return text("verdict", form, language, seen=seen_facts(violation, language), mechanism=cause)


def promise(claim: str, language: Language) -> str:
    """Return a claim as its sentence."""
    if claim not in Claim.__members__:
        return claim  # a damaged record may name a claim that there is not
    return translated(f"claim.{claim}", Claim[claim].value, language)


def measure(name: str, language: Language) -> str:
    """Return the name of the events that a measure of the danger counts."""
    return translated(f"measure.{name}", MEASURES.get(name, name), language)


def _others(judgement: Judgement | Grounds, language: Language) -> Iterator[str]:
    """Yield notes on a run whose promise held: the requests that were not served, and the losses by other causes."""
    if unserved := judgement.failed + judgement.unknown:
        yield text("verdict", "not_served", language, unserved, of=judgement.requests)
    if judgement.lost_otherwise:
        yield text("verdict", "lost_otherwise", language, judgement.lost_otherwise, causes=_causes(judgement.lost_by, language))


def _causes(lost_by: Mapping[Mechanism, int], language: Language) -> str:
    """Return the causes of the losses; if there are several, each has its number."""
    named = [(mechanism(one, language), number) for one, number in lost_by.items()]
    if len(named) == 1:
        return named[0][0]
    return _joined((text("verdict", "share", language, number, mechanism=one) for one, number in named), language)


def headline(judgement: Judgement, language: Language = ENGLISH) -> str:
    """Return the verdict in a few words: ``KEPT``, or ``KEPT, 3 lost otherwise``."""
    lost = judgement.lost_otherwise
    return text("verdict", "otherwise", language, lost, verdict=judgement.verdict) if lost else str(judgement.verdict)


def reason(judgement: Judgement, language: Language = ENGLISH) -> str:
    """Return the reasons of a verdict, and the violations of other claims, as sentences."""
    mark = words(language)["mark"]
    gap: str = mark["gap"]
    return gap.join(filter(None, (why(judgement, language) + mark["end"], also_seen(judgement, language))))


def also_seen(judgement: Judgement, language: Language = ENGLISH, named: Collection[Mechanism] = ()) -> str:
    """Return violations of other claims than the one under test as a sentence; empty if there are none.

    named: mechanisms that the reader knows already, besides the ones of the claim under test.
    """
    known = {*named, *(one.mechanism for one in judgement.violations if one.claim == judgement.claim)}
    others = [one for one in judgement.violations if one.claim != judgement.claim and one.mechanism not in known]
    if not others or judgement.verdict in (Verdict.BROKEN, Verdict.VOID):
        return ""
    sentences = (_in_form("also", one, language) for one in others)
    return text("verdict", "also_seen", language, what=_joined(sentences, language))


def _joined(parts: Iterable[str], language: Language) -> str:
    part: str = words(language)["mark"]["part"]
    return part.join(parts)
