"""Say the searches of the explorer: under which conditions one looks, and what all of them decide of a claim."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.explore.code.program import FOR_EVER_MS
from lab.explore.kept import CheapestBreak, Summary
from lab.explore.questions import PAIR, Question
from lab.explore.search.event import NONE
from lab.language import Language
from lab.story.say import ENGLISH, faults, seconds, text, words
from lab.text import thousands


def conditions(question: Question, ttl_ms: int, language: Language = ENGLISH) -> str:
    """Return the faults and the work of a search. ttl_ms: that of the other searches."""
    task, comma = question.task, words(language)["mark"]["names_comma"]
    of_faults = question.budget._asdict()
    found = [*_of_task(question, ttl_ms, language)]
    if task.work_ms:
        found.append(text("faults", "work", language, s=seconds(task.work_ms)))
    if task.wait_ms < FOR_EVER_MS:
        found.append(text("search", "wait" if task.wait_ms else "try", language, s=seconds(task.wait_ms)))
    if task.ends:
        found.append(text("search", "ends", language))
    if question.budget != NONE or not found:
        found.append(faults(of_faults, language))
    return str(comma).join(found)


def _of_task(question: Question, ttl_ms: int, language: Language) -> Iterator[str]:
    task = question.task
    for name, count, usual in (
        ("clients", question.replicas, PAIR),
        ("at_once", task.at_once, 1),
        ("in_turn", task.in_turn, 1),
    ):
        if count != usual:
            yield text("search", name, language, count, number=in_words(count, language))
    if task.nested:
        yield text("search", "nested", language)
    if task.ttl_ms != ttl_ms:
        yield text("search", "ttl", language, s=seconds(task.ttl_ms))


def in_words(count: int, language: Language = ENGLISH) -> str:
    """Return a small number in words, where the language has them."""
    return str(words(language)["search"].get(f"number_{count}", count))


def summary(one: Summary, ttl_ms: int, language: Language = ENGLISH) -> str:
    """Return what all searches decide of one claim."""
    if one.broken is not None:
        return _breaks(one.broken, ttl_ms, language)
    found = []
    if one.held:
        name = "holds_in" if one.schedules else "holds"
        found.append(text("search", name, language, one.schedules or 1, schedules=thousands(one.schedules)))
    if one.undecided:
        found.append(text("search", "not_decided", language, what=_in_short(one.undecided, ttl_ms, language)))
    return str(words(language)["mark"]["part"]).join(found)


def share(one: CheapestBreak, language: Language = ENGLISH) -> str:
    """Return how many schedules of its search break the claim; empty where they are not counted."""
    if one.share is None:
        return ""
    broken, schedules = map(thousands, one.share)
    return text("search", "share", language, broken=broken, schedules=schedules)


def _breaks(one: CheapestBreak, ttl_ms: int, language: Language) -> str:
    with_what = conditions(one.question, ttl_ms, language)
    if one.share is not None:
        with_what += text("search", "in_share", language, share=share(one, language))
    return text("search", "breaks", language, one.events, conditions=with_what)


def _in_short(questions: Sequence[Question], ttl_ms: int, language: Language) -> str:
    """Return the conditions of several searches: those with a pair of faults are counted."""
    pairs = [one for one in questions if sum(one.budget) > 1]
    found = [conditions(one, ttl_ms, language) for one in questions if one not in pairs]
    found += [text("search", "pairs", language, len(pairs))] if pairs else []
    return str(words(language)["mark"]["names_comma"]).join(found)
