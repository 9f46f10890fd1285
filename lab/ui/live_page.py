"""The lab's own page: what it offers and asks, before any news of a run. And the small page on which a phone types the word.

The fixed texts of both are in ``texts.toml``, by name.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from lab.language import Language, exactly
from lab.report.html import page
from lab.scenario import reader as scenarios
from lab.scenario.faults import faults
from lab.story import say
from lab.ui import lesson, questions
from lab.ui.addresses import qr_code
from lab.ui.both_sides import BUSY
from lab.ui.joining import NOT_JOINED, PAUSE_S, TEACHER_ONLY, Admission, Invitation
from lab.ui.posted import scenario_names
from lab.ui.predictions import FULL, VOTERS

TEMPLATES = Path(__file__).with_name("templates")
TEXTS = Path(__file__).with_name("texts.toml")


@cache
def texts() -> dict[Language, dict[str, str]]:
    """Return the fixed texts by language and name."""
    said = tomllib.loads(TEXTS.read_text(encoding="utf-8"))
    return {language: {name: both[place] for name, both in said.items()} for place, language in enumerate(Language)}


def text(
    invitation: Invitation,
    locust_port: int,
    ways: Mapping[str, str],
    language: Language = Language.ENGLISH,
    teacher: bool = True,
) -> str:
    """Return the page, with its texts in all languages.

    invitation: how phones come here; empty where only this machine can open
    the page. ways: the addresses of the lab's other pages, by name.
    language: the language in which the page opens. A visitor can choose another one there. teacher: whether the visitor is the
    teacher, who gets the notes of the lesson.
    """
    data = {
        "texts": texts(),
        "chinese": chinese(),
        "lessons": {one: lesson.offered(teacher, one) for one in Language},
        "language": language,
        "teacher": teacher,
    }
    encoded = msgspec.json.encode(data).decode().replace("<", "\\u003c")  # a </script> in a text would end the element
    phones = {"invitation": invitation, "qr_code": qr_code(invitation.code) if invitation.code else ""}
    here = {"locust_port": locust_port, "ways": ways, "t": texts()[Language.ENGLISH]}
    return page("live.html", TEMPLATES, data=encoded, **here, **phones)


def chinese() -> dict[str, str]:
    """Return what the server sends in English, with its Chinese: scenarios, questions, the names of faults, refusals.

    It sends both, because a projector and a phone may differ in their language. What has no phrase stays English.
    """
    loaded = [scenarios.load(name) for name in scenario_names()]
    asked = [questions.QUESTIONS[one.tests.name] for one in loaded]
    return {
        **{one.title: say.stated(f"scenario.{one.name}", one.title, Language.CHINESE) for one in loaded},
        **exactly("question", (text for one in asked for text in (one.text, *one.choices))),
        **{say.fault(name): say.fault(name, Language.CHINESE) for name in faults()},
        **exactly("refusal", (BUSY, TEACHER_ONLY, NOT_JOINED)),
        **{one.format(n=VOTERS): said.format(n=VOTERS) for one, said in exactly("refusal", [FULL]).items()},
    }


def join_text(entry: Admission, language: Language, action: str) -> str:
    """Return the page on which a phone types the word of the class, with its texts in all languages.

    entry: what became of the last word; OPEN for a visitor without one. action: where the word is posted.
    """
    said = {
        tongue: {name: one.replace("{s}", f"{PAUSE_S:.0f}") for name, one in of.items() if name.startswith("join")}
        for tongue, of in texts().items()
    }
    data = msgspec.json.encode({"texts": said, "language": language}).decode().replace("<", "\\u003c")
    return page("join.html", TEMPLATES, data=data, action=action, wrong=entry.value, t=said[Language.ENGLISH])
