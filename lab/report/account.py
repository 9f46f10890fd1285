"""One account of what a run lost: a sentence, its split by cause, and the exact account of the writes behind it.

The split and the exact account have the same sum: the number of lost increments. The gross figures, how many
increments writes overwrote and brought back, are in the exact account only.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from lab.evidence.loss import Mechanism
from lab.judge.judgement import Judgement
from lab.report.run_data import Result
from lab.text import thousands


class Line(msgspec.Struct):
    """A mechanism in the exact account."""

    mechanism: Mechanism
    # how many writes overwrote increments; None if that is not on record
    writes: int | None
    # how many increments its writes overwrote; None if that is not on record
    overwritten: int | None
    # how many of them its later writes brought back
    brought_back: int | None
    # overwritten less brought back; below zero if its writes brought back what other mechanisms had overwritten
    net: int


class LossAccount(msgspec.Struct):
    """What a run lost, for a page."""

    sentence: str
    # how many increments each cause took, largest first
    split: dict[Mechanism, int]
    # the exact account; its nets add up to what is lost
    lines: list[Line]


def account(result: Result) -> LossAccount:
    """Return the account of a run."""
    return LossAccount(
        sentence(result.judgement, result.record.start),
        result.net,
        _lines(result),
    )


def sentence(judgement: Judgement, start: int = 0) -> str:
    """Return what the clients were promised, what the counter says, and how many increments are gone."""
    parts = [f"{_requests(judgement.acknowledged)} answered “done”."]
    if judgement.stock is not None:
        parts = [*_shop(judgement, judgement.stock)]
    again, unclear = judgement.duplicated, judgement.writes - judgement.acknowledged - judgement.duplicated
    if again:
        parts.append(f"{_writes(again)} made again for a request that had its increment already.")
    if unclear > 0:
        parts.append(f"{_writes(unclear)} made for requests that got no clear answer.")
    elif unclear < 0:
        parts.append(f"For {thousands(-unclear)} of these answers no write is on record.")
    began = f" It began at {thousands(start)}." if start else ""
    if judgement.final is None:
        parts.append("The counter could not be read.")
    else:
        parts.append(f"The counter says {thousands(judgement.final)}.{began}")
    parts.append(f"{thousands(judgement.lost) if judgement.lost else 'None'} {'are' if judgement.lost > 1 else 'is'} gone.")
    return " ".join(parts)


def _requests(number: int) -> str:
    return f"{thousands(number)} {'request was' if number == 1 else 'requests were'}"


def _shop(judgement: Judgement, stock: int) -> Iterator[str]:
    """Yield what a shop had, what it sold, and how many requests found nothing left."""
    items = "item" if stock == 1 else "items"
    too_many = thousands(judgement.oversold) if judgement.oversold else "none"
    yield f"The shop had {thousands(stock)} {items} and sold {thousands(judgement.acknowledged)}: {too_many} too many."
    if judgement.sold_out:
        requests = "request" if judgement.sold_out == 1 else "requests"
        yield f"{thousands(judgement.sold_out)} {requests} got the answer that nothing is left."


def _writes(number: int) -> str:
    return f"{thousands(number)} {'write was' if number == 1 else 'writes were'}"


def _lines(result: Result) -> list[Line]:
    lines = [
        Line(cause.mechanism, cause.writes or None, cause.destroyed, cause.restored, cause.destroyed - cause.restored)
        for cause in sorted(result.series.causes, key=lambda cause: -cause.destroyed)
    ]
    rest = result.judgement.lost - sum(line.net for line in lines)
    return lines + ([Line(Mechanism.WRITE_UNCONFIRMED, None, None, None, rest)] if rest else [])
