"""Test the texts of the scheduler's pages: no value in them can end a tag."""

from lab.explore.play.page import written
from lab.language import Language


def test_text_of_a_template():
    """A value that is filled into a text is escaped."""
    assert written(Language.ENGLISH, "stage", name="<b>") == "Stage <code>&lt;b&gt;</code>"
    assert written(Language.CHINESE, "client", who="A") == "客户端 A"
