"""The texts of the scheduler's pages: both languages, and nothing in them ends a tag or a script."""

import json

from lab.explore.play.texts import both, faults, label, table
from lab.explore.search.event import Budget


def test_both():
    """A text of a template is in both languages; marks become tags; what stands in a place is escaped, and Chinese as well."""
    assert both("Stage `{name}`", name="<b>") == (
        '<span class="en">Stage <code>&lt;b&gt;</code></span><span class="zh">阶段 <code>&lt;b&gt;</code></span>'
    )
    assert both("Faults: {faults}.", faults=faults(Budget(pauses=1))).endswith(">故障：1 次停顿。</span>")
    assert both("3 < 4") == "3 &lt; 4"
    assert label("Client {who}", who="A") == 'aria-label="Client A" data-en="Client A" data-zh="客户端 A"'


def test_table():
    """A table has the texts that have Chinese; it ends no script."""
    assert json.loads(table(["Time", "</script>", "A reads 0."], {"A reads 0.": "A 读到 0。", "x": "y"})) == {
        "A reads 0.": "A 读到 0。",
        "Time": "时间",
    }
    assert "<" not in table(["x"], {"x": "<"})
