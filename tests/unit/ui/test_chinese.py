"""The page of the class in Chinese: each text that it can show has its phrase, and each phrase is of a text as it is now."""

from functools import cache

from lab.language import Language, exactly
from lab.scenario import reader as scenarios
from lab.scenario.scenario import Scenario
from lab.ui import live_page, questions
from lab.ui.joining import Invitation
from lab.ui.posted import scenario_names
from tests.every import every


@cache
def loaded() -> list[Scenario]:
    return [scenarios.load(name) for name in scenario_names()]


@cache
def offered() -> dict[str, set[str]]:
    """Return the texts of the page, and the names in the matrix, by the part of the catalogue that has them."""
    asked = [questions.QUESTIONS[one.tests.name] for one in loaded()]
    return {
        "question": {text for one in asked for text in (one.text, *one.choices)},
    }


@every("part", offered)
def test_each_text_has_a_phrase(part):
    """A fixed text, a stage, a scenario, a question or a fault without Chinese needs its line in lab/language/zh.

    A stage that has no place of its own on the ladder is new: its Chinese may come later, and the book reminds of it.
    """
    texts = offered()[part]

    assert sorted(texts - set(exactly(part, texts))) == []


def test_language_without_a_choice():
    """The page has the texts of both languages, and opens in that of the command's environment."""
    for language in Language:
        text = live_page.text(Invitation(), 8089, {}, language)
        assert f'"language":"{language}"' in text
        assert all(f'"{texts["start"]}"' in text for texts in live_page.texts().values())
