"""Put the searches of the explorer into words: the conditions of a search, and the decision of all searches about a claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from lab.evidence.decided import CheapestBreak, KeptDecision, Search, Summary
from lab.language import Language
from lab.story.happening import Story
from lab.story.say import ENGLISH, faults, seconds, text, words
from lab.text import thousands

PAIR = 2  # clients, in most searches


def conditions(search: Search, ttl_ms: int, language: Language = ENGLISH) -> str:
    """Return the faults and the conditions of a search in words. ttl_ms: the usual TTL, which is left out."""
    comma = words(language)["mark"]["names_comma"]
    found = [*_of_task(search, ttl_ms, language)]
    if search["work_ms"]:
        found.append(text("faults", "work", language, s=seconds(search["work_ms"])))
    if (wait_ms := search["wait_ms"]) is not None:
        found.append(text("search", "wait" if wait_ms else "try", language, s=seconds(wait_ms)))
    if search["ends"]:
        found.append(text("search", "ends", language))
    if search["faults"] or not found:
        found.append(faults(search["faults"], language))
    return str(comma).join(found)


def _of_task(search: Search, ttl_ms: int, language: Language) -> Iterator[str]:
    for name, count, usual in (
        ("clients", search["replicas"], PAIR),
        ("at_once", search["at_once"], 1),
        ("in_turn", search["in_turn"], 1),
    ):
        if count != usual:
            yield text("search", name, language, count, number=in_words(count, language))
    if search["nested"]:
        yield text("search", "nested", language)
    if search.get("ttl_ms", ttl_ms) != ttl_ms:
        yield text("search", "ttl", language, s=seconds(search["ttl_ms"]))


def in_words(count: int, language: Language = ENGLISH) -> str:
    """Return a small number in words, if the language has them."""
    return str(words(language)["search"].get(f"number_{count}", count))


def summary(decided: Summary, ttl_ms: int, language: Language = ENGLISH) -> str:
    """Return the decision of all searches about one claim."""
    if decided.broken is not None:
        return _breaks(decided.broken, ttl_ms, language)
    found = []
    if decided.held:
        name = "holds_in" if decided.schedules else "holds"
        found.append(text("search", name, language, decided.schedules or 1, schedules=thousands(decided.schedules)))
    if decided.undecided:
        found.append(text("search", "not_decided", language, what=_in_short(decided.undecided, ttl_ms, language)))
    return str(words(language)["mark"]["part"]).join(found)


def kept_story(found: KeptDecision) -> Story | None:
    """Return the shortest schedule that the documents draw, as a kept decision has it."""
    return msgspec.convert(found.story, Story | None)


def share(found: CheapestBreak, language: Language = ENGLISH) -> str:
    """Return how many schedules of its search break the claim; empty if they are not counted."""
    if found.share is None:
        return ""
    broken, schedules = map(thousands, found.share)
    return text("search", "share", language, broken=broken, schedules=schedules)


def _breaks(found: CheapestBreak, ttl_ms: int, language: Language) -> str:
    with_what = conditions(found.search, ttl_ms, language)
    if found.share is not None:
        with_what += text("search", "in_share", language, share=share(found, language))
    return text("search", "breaks", language, found.events, conditions=with_what)


def _in_short(searches: Sequence[Search], ttl_ms: int, language: Language) -> str:
    """Return the conditions of several searches: searches with a pair of faults are only counted."""
    pairs = [one for one in searches if sum(one["faults"].values()) > 1]
    found = [conditions(one, ttl_ms, language) for one in searches if one not in pairs]
    found += [text("search", "pairs", language, len(pairs))] if pairs else []
    return str(words(language)["mark"]["names_comma"]).join(found)
