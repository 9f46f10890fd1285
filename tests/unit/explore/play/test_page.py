"""The texts of the scheduler's pages: nothing in them ends a tag."""

from lab.explore.play.page import written
from lab.language import Language


def test_text_of_a_template():
    """What stands in the places of a text is escaped."""
    assert written(Language.ENGLISH, "stage", name="<b>") == "Stage <code>&lt;b&gt;</code>"
    assert written(Language.CHINESE, "client", who="A") == "客户端 A"
