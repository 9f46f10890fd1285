"""The texts of the scheduler's pages: both languages, and nothing in them ends a tag or a script."""

import json

from lab.explore.play.texts import both, faults, for_scripts, label, shown
from lab.explore.search.event import Budget


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
