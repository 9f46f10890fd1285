"""Which language a reader gets; what generated parts state is Chinese, and code stays."""

import re

import pytest

from app.locks import stages
from lab.language import Language, of_environment
from tests.every import every
from tools.book import generate

ENGLISH = re.compile(r"[A-Za-z]+ [a-z]+")  # two words in a row, outside of code
NOT_PROSE = re.compile(r"^```.*?^```$|`[^`\n]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
SOURCE = re.compile(r"^\*\*出处。\*\*.*$", re.MULTILINE)  # a title stays as it is


@pytest.mark.whole
@every("part", ["problem", "diff", "verdicts", "schedule", "still", "neighbours"])
@every("stage", stages)
def test_parts_of_a_chapter_are_chinese(stage, part):
    """No English sentence is left in what is made for a Chinese chapter."""
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
