"""The lab's own page as it is before any run, with its offers and questions; and the small page on which a phone types the word.

The fixed texts of both are in the table ``class`` of lab/story/words.toml.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from lab.language import Language
from lab.report.html import page
from lab.story import say
from lab.ui import lesson
from lab.ui.addresses import qr_code
from lab.ui.both_sides import Refusal
from lab.ui.joining import PAUSE_S, Admission, Invitation

TEMPLATES = Path(__file__).with_name("templates")


def refused(why: str | None) -> dict[str, str]:
    """Return a refusal as the pages get it: in English, and the lab's own ones in Chinese as well."""
    said = {"refused": str(why)}
    return said | ({"zh": say.translated(f"refusal.{why.name}", why, Language.CHINESE)} if isinstance(why, Refusal) else {})


def text(
    invitation: Invitation,
    locust_port: int,
    ways: Mapping[str, str],
    language: Language = Language.ENGLISH,
    teacher: bool = True,
) -> str:
    """Return the page, with its texts in all languages.

    invitation: how phones come here; empty if only this machine can open
    the page. ways: the addresses of the lab's other pages, by name.
    language: the language in which the page opens. A visitor can choose another one there. teacher: whether the visitor is the
    teacher: then the page has the notes of the lesson.
    """
    data = {
        "texts": {one: say.words(one)["class"] for one in Language},
        "lessons": {one: lesson.offered(teacher, one) for one in Language},
        "language": language,
        "teacher": teacher,
    }
    encoded = msgspec.json.encode(data).decode().replace("<", "\\u003c")  # a </script> in a text would end the element
    phones = {"invitation": invitation, "qr_code": qr_code(invitation.code) if invitation.code else ""}
    here = {"locust_port": locust_port, "ways": ways, "t": say.words(Language.ENGLISH)["class"]}
    return page("live.html", TEMPLATES, data=encoded, **here, **phones)


def join_text(entry: Admission, action: str) -> str:
    """Return the page on which a phone types the word of the class, with its texts in all languages.

    entry: the answer to the last word; OPEN for a visitor without one. action: the address to which the word is posted.
    """
    said = {one: {name: text.format(s=f"{PAUSE_S:.0f}") for name, text in say.words(one)["join"].items()} for one in Language}
    data = msgspec.json.encode(said).decode().replace("<", "\\u003c")
    return page("join.html", TEMPLATES, data=data, action=action, wrong=entry.value, t=said[Language.ENGLISH])
