"""Which language a reader gets, from the environment of the command."""

from __future__ import annotations

from lab.language.choice import of_environment
from tests.every import every


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
