"""The texts of the scheduler's pages: both languages, and nothing in them ends a tag or a script."""

import json
import re

from lab.explore.play.levels import LEVELS
from lab.explore.play.texts import TEMPLATES, both, faults, for_scripts, label, shown
from lab.explore.search.event import Budget
from lab.story.say import ENGLISH, words

IN_A_SCRIPT, IN_A_TEMPLATE = re.compile(r'\bsay\("(\w+)"'), re.compile(r'\b(?:both|label)\("(\w+)"[,)]')


def used(ending: str, pattern: re.Pattern) -> set[str]:
    return {name for path in TEMPLATES.glob(f"*.{ending}") for name in pattern.findall(path.read_text(encoding="utf-8"))}


def test_both():
    """A text of a template is in both languages; what stands in its places is escaped, and Chinese as well."""
    assert both("stage", name="<b>") == (
        '<span class="en">Stage <code>&lt;b&gt;</code></span><span class="zh">阶段 <code>&lt;b&gt;</code></span>'
    )
    assert both("faults", faults=faults(Budget(pauses=1))).endswith(">故障：1 次停顿。</span>")
    assert shown("3 < 4") == "3 &lt; 4"
    assert label("client", who="A") == 'aria-label="Client A" data-en="Client A" data-zh="客户端 A"'


def test_for_scripts():
    """What scripts write is there in both languages; it ends no script."""
    texts = for_scripts(("<a", "b"))

    assert json.loads(texts)["title"] == ["<a", "b"]
    assert json.loads(texts)["time"] == ["Time", "时间"]
    assert "<" not in texts


def test_each_text_is_used():
    """Each text that a template or a script names is there, and each that is there is named; so have the levels theirs."""
    scripts, templates = used("js", IN_A_SCRIPT), used("html", IN_A_TEMPLATE)
    by_code = {"title", "no_reply", *(f"kind_{one.kind.value}" for one in LEVELS)}
    there = words(ENGLISH)

    assert scripts == {"title", *there["scheduler_script"]}
    assert templates | by_code == {*there["scheduler"]} | (templates & scripts)
    assert not there["scheduler"].keys() & there["scheduler_script"].keys()
    assert {*there["goal"]} == {*there["lesson"]} == {one.name for one in LEVELS}
