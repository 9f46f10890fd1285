"""Give each read and each write of a timeline the moment at which the counter took it.

Each part of the counter is a number of its own, and has an order of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lab.judge.grant import GrantRecord
from lab.report.timeline_order import Command, order_of
from lab.story.timeline import NEVER, DrawnGrant, Timeline

Pair = tuple[GrantRecord, DrawnGrant]


def place_commands(picture: Timeline, grants: Sequence[GrantRecord], origin_ns: int, start: int | None) -> None:
    """Find the moments of all reads and writes, and the numbers of the counter between them.

    grants: those of the picture, in the same order. start: the first number of the counter; None if the picture lacks its
    beginning.
    """
    parts: dict[str, list[Pair]] = {}
    for grant, held in zip(grants, picture.held, strict=True):
        parts.setdefault(grant.part, []).append((grant, held))
    writes = []
    for part, pairs in parts.items():
        of_part = 0 if part and start is not None else start
        writes += [(held.wrote_in, part, held) for held in _placed(picture, pairs, origin_ns, of_part)]
    writes.sort(key=lambda write: write[0])
    values = {"": start or 0}
    for _, part, held in writes:
        values[part] = held.wrote or 0
        if len(parts) == 1:
            held.counter = held.wrote
        elif start is not None:
            held.counter = sum(values.values())
    picture.gaps.sort()


def _placed(picture: Timeline, pairs: Sequence[Pair], origin_ns: int, start: int | None) -> list[DrawnGrant]:
    """Give the reads and writes of one part their moments. Return the grants that wrote, in the order of their writes."""
    commands = list(_commands(pairs))
    owners = [owner for owner, _ in commands]
    order = order_of([command for _, command in commands], start)
    moments = [at if at == NEVER else (at - origin_ns) / 1000 for at in order.at]
    for (held, is_write), moment in zip(owners, moments, strict=True):
        if is_write:
            held.wrote_in = moment
        else:
            held.read_in = moment
    picture.gaps += [moments[place] for place in order.breaks]
    return [owners[place][0] for place in order.places if owners[place][1]]


def _commands(pairs: Sequence[Pair]) -> Iterator[tuple[tuple[DrawnGrant, bool], Command]]:
    """Yield each read and write: the grant that it belongs to, whether it is a write, and the command.

    Where the sending of a write is not on record, the write came after the read.
    """
    for grant, held in pairs:
        if grant.read is not None:
            yield (held, False), Command(grant.reading_ns, grant.read_ns, grant.read, grant.read)
        if grant.wrote is not None and grant.overwrote is not None:
            sent_ns = grant.writing_ns or max(grant.read_ns, grant.got_ns) + 1
            yield (held, True), Command(sent_ns, grant.wrote_ns, grant.overwrote, grant.wrote)
