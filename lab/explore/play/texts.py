"""The texts of the pages in both languages: of a template, of a script, and of what is made of facts.

An element of a template is in the page in each language, and the style shows one of the two. A script chooses from a pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup

from app.lock import Claim
from lab.explore.search.event import Budget
from lab.language import Language
from lab.story import say
from lab.story.verdict import promise

TEMPLATES = Path(__file__).with_name("templates")
Said = str | tuple[str, str]  # a text in English and in Chinese; once if both are the same


def in_both(made: Callable[[Language], str]) -> Said:
    """Return in both languages what a function says in one."""
    english, chinese = map(made, Language)
    return english if english == chinese else (english, chinese)


def each_in_both(made: Callable[[Language], Sequence[str]]) -> list[Said]:
    """Return in both languages the texts that a function says in one."""
    return [one if one == other else (one, other) for one, other in zip(*map(made, Language), strict=True)]


def text(table: str, name: str, /, **places: Said) -> Said:
    """Return a text of the lab's words. places: what stands in its places."""
    return in_both(lambda language: say.text(table, name, language, **_of(places, language)))


def faults(budget: Budget) -> Said:
    """Return the faults of a level."""
    return in_both(lambda language: say.faults(budget._asdict(), language))


def promised(claim: Claim) -> Said:
    """Return a claim as its sentence."""
    return in_both(lambda language: promise(claim.name, language))


def in_one(one: Said, language: Language = say.ENGLISH) -> str:
    """Return a text in one language."""
    return one[list(Language).index(language)] if isinstance(one, tuple) else one


def _of(places: dict[str, Said], language: Language) -> dict[str, Any]:
    return {name: in_one(one, language) for name, one in places.items()}


def shown(one: Said) -> Markup:
    """Return a text for a template."""
    if isinstance(one, tuple):
        return Markup('<span class="en">{}</span><span class="zh">{}</span>').format(*one)
    return Markup("{}").format(one)


def written(name: str, /, **places: Said) -> Said:
    """Return a text of the templates, or of the scripts, as HTML. places: what stands in its places, and is no HTML."""

    def in_one_language(language: Language) -> str:
        there = say.words(language)["scheduler"] | say.words(language)["scheduler_script"]
        return Markup(there[name]).format(**_of(places, language))  # noqa: S704 - the lab's own words

    return in_both(in_one_language)


def both(name: str, /, **places: Said) -> Markup:
    """Return what an element has, in both languages: a text as in ``written``."""
    return shown(written(name, **places))


def label(name: str, /, **places: Said) -> Markup:
    """Return the attributes with which an element has a label in both languages; a script shows one of them."""
    english, chinese = (in_one(written(name, **places), language) for language in Language)
    return Markup('aria-label="{0}" data-en="{0}" data-zh="{1}"').format(english, chinese)


def for_scripts(title: Said) -> str:
    """Return what the scripts of a page write, by name, as JSON. title: of the page."""
    names = list(say.words(say.ENGLISH)["scheduler_script"])
    said = each_in_both(lambda language: list(say.words(language)["scheduler_script"].values()))
    return msgspec.json.encode({"title": title, **dict(zip(names, said, strict=True))}).decode().replace("<", "\\u003c")
