"""Test which language a reader gets, and that the generated parts of a Chinese chapter are in Chinese."""

import re

import pytest

from app.locks import stages
from lab.language import Language, of_environment
from tests.every import every
from tools.book import generate

ENGLISH = re.compile(r"[A-Za-z]+ [a-z]+")  # two words in a row, outside of code
NOT_PROSE = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
SOURCE = re.compile(r"^\*\*出处。\*\*.*$", re.MULTILINE)  # the title of a source stays in English


@pytest.mark.whole
@every("part", ["problem", "diff", "verdicts", "schedule", "still", "neighbours"])
@every("stage", stages)
def test_parts_of_a_chapter_are_chinese(stage, part):
    """A generated part of a Chinese chapter has no English sentence outside of code."""
    made = NOT_PROSE.sub("", SOURCE.sub("", generate.PARTS[part](stage, language=Language.CHINESE)))

    assert ENGLISH.findall(made.replace("None → redis", "")) == []


@every(
    "environment, language",
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh"}, "zh"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": "en_GB.UTF-8"}, "en"),
        ({"LANG": "en_GB.UTF-8", "LC_MESSAGES": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "", "LC_MESSAGES": ""}, "zh"),
        ({"LANGUAGE": "zh"}, "en"),
    ],
)
def test_language_of_environment(environment, language):
    """The first of LC_ALL, LC_MESSAGES and LANG that is set and not empty decides; other languages are English."""
    assert of_environment(environment) == language
