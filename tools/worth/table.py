"""The table of worth, a row for each part."""

from typing import NamedTuple

SHOWN = 3  # of the names in a row
HEAD = f"{'kind':<9} {'switched off':<58} at work changes by hand  first of them"


class Row(NamedTuple):
    """How much one part is worth."""

    # which kind of part, and its name
    kind: str
    part: str
    # how many cases the part says anything in
    at_work: int
    # the cases whose answer changes without it; and whether the search for them ended early
    changes: list[str]
    is_enough: bool = False
    # tests of histories made by hand that fail without it; None if they were not asked
    by_hand: list[str] | None = None

    def line(self) -> str:
        """Return the row as a line of text."""
        number = f"{len(self.changes)}{'+' if self.is_enough else ''}"
        by_hand = "" if self.by_hand is None else f"{len(self.by_hand)}{'+' if len(self.by_hand) == SHOWN else ''}"
        names = "; ".join([*self.changes[:SHOWN], *(self.by_hand or ())[:1]])
        return f"{self.kind:<9} {self.part:<58} {self.at_work:>7} {number:>7} {by_hand:>7}  {names}"
