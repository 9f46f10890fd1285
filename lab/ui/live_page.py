"""The text of the lab's own page: what it offers and asks, before any news of a run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec

from app.locks import stages
from lab.language.choice import Language
from lab.report.html import page
from lab.scenario import reader as scenarios
from lab.ui import chinese, lesson, questions
from lab.ui.addresses import qr_code
from lab.ui.chinese import TEXTS
from lab.ui.joining import Invitation
from lab.ui.ladder_panel import CORE
from lab.ui.run_form import scenario_names

TEMPLATES = Path(__file__).with_name("templates")


def text(
    asked: tuple[str, str],
    invitation: Invitation,
    locust_port: int,
    ways: Mapping[str, str],
    language: Language = Language.ENGLISH,
    names: bool = False,
    teacher: bool = True,
) -> str:
    """Return the page, with its texts in all languages.

    asked: the stage and the scenario that are chosen. invitation: how phones come here; empty where only this machine can open
    the page. ways: the addresses of the lab's other pages, by name.
    language: the language in which the page opens. A visitor can choose another one there. names: whether visitors are asked for
    their names. teacher: whether the visitor is the teacher, who gets the notes of the lesson.
    """
    shelf, loaded = stages(), {name: scenarios.load(name) for name in scenario_names()}
    offered = {
        "core": {name: shelf[name] for name in CORE},
        "others": {name: one for name, one in shelf.items() if name not in CORE},
        "scenarios": loaded,
    }
    about = {name: questions.of(scenario.tests.name) for name, scenario in loaded.items()}
    data = {
        "titles": {name: chinese.plain(stage.story.title) for name, stage in shelf.items()},
        "questions": {name: {"text": one.text, "choices": one.choices} for name, one in about.items()},
        "unfit": {name: [one for one in shelf if scenario.misfit(shelf[one])] for name, scenario in loaded.items()},
        "texts": {Language.ENGLISH: TEXTS, Language.CHINESE: chinese.texts()},
        "chinese": chinese.offered() | lesson.chinese(teacher),
        "lesson": lesson.offered(teacher),
        "language": language,
        "teacher": teacher,
    }
    encoded = msgspec.json.encode(data).decode().replace("<", "\\u003c")  # a </script> in a text would end the element
    phones = {"invitation": invitation, "qr_code": qr_code(invitation.code) if invitation.code else "", "names": names}
    here = {"asked": asked, "locust_port": locust_port, "ways": ways, "t": TEXTS}
    return page("live.html", TEMPLATES, data=encoded, **here, **phones, **offered)
