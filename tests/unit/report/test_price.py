"""Test the chart of speed and promises."""

from lab.report.price import Place, draw, front, places
from lab.report.reference import ladder


def test_front():
    """A slower stage is on the front only if it promises more than each faster one."""
    found = [Place("a", 9, 2), Place("b", 8, 2), Place("c", 7, 1), Place("d", 6, 5), Place("e", 5, 4)]

    assert [one.stage for one in front(found)] == ["a", "d"]


def test_reference():
    """A run that lost increments has no place on the chart, and each stage of the front has its name there."""
    found = places(ladder())
    drawn = draw(ladder())

    assert {"none", "local", "setnx_no_else", "mysql_upsert"} & {one.stage for one in found} == set()
    assert {one.get_text() for one in drawn.axes[0].texts} >= {one.stage for one in front(found)}
    assert len(drawn.axes[0].collections[0].get_offsets()) == len(found)
