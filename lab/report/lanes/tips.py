"""What a page says of a thing in a run's drawing that a reader points at: lines, of which the first names the thing.

It stands in an attribute of the thing's element; that of a grant has its place as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from lab.report.chart import amount
from lab.report.lanes.rows import lease_end
from lab.story.timeline import NEVER, DrawnFault, DrawnGrant, Life, Timeline


def grant(picture: Timeline, place: int, is_locked: bool, destroyed: int) -> str:
    """Return what a request did with the lock, if there is one. destroyed: how many increments its write overwrote."""
    return f'data-held="{place}" {_says(_of_grant(picture, place, is_locked, destroyed))}'


def life(picture: Timeline, life: Life) -> str:
    """Return what became of a key at the lock's store."""
    holder = f" of {picture.held[life.holder].request}" if life.holder != NEVER else ""
    lines = [f"key {picture.keys[life.key]}{holder}", f"set; event recorded at {_when(life.born)}"]
    if life.due != NEVER:
        lines.append(f"its lease ended at {_when(lease_end(life, picture))}")
    by = f" by {picture.held[life.by].request}" if life.by != NEVER else ""
    lines.append("never freed" if life.gone == NEVER else f"{_ended(life)}{by}; event recorded at {_when(life.gone)}")
    return _says([*lines, *([f"renewed {len(life.touched)} times"] if life.touched else [])])


def fault(picture: Timeline, fault: DrawnFault) -> str:
    """Return what a fault did, and who got in next."""
    reached = f"reached {fault.request} at" if fault.request else "at"
    lines = [f"{fault.kind.replace('_', ' ')} at {fault.failpoint}"]
    lines.append(f"{reached} {_when(fault.at)}, recovered at {_when(fault.recovered)}")
    if fault.back != NEVER:
        lines.append(f"the process was running again at {_when(fault.back)}")
    next_one = f"{fault.next_request} at {_when(fault.next_got)}" if fault.next_got != NEVER else "none"
    return _says([*lines, f"next {'grant' if picture.is_locked else 'request in the work'}: {next_one}"])


def _says(lines: Iterable[str]) -> str:
    return f'data-says="{escape(chr(10).join(lines))}"'


def _of_grant(picture: Timeline, place: int, is_locked: bool, destroyed: int) -> Iterator[str]:
    held = picture.held[place]
    yield f"{held.request} at {picture.replicas[held.replica]}"
    if is_locked:
        yield f"waited {_ms(max(0, held.got - held.asked))}, got the lock at {_when(held.got)}"
        yield f"held it for {_ms(held.until - held.got)}"
    else:
        yield f"entered the work at {_when(held.got)}"
        yield f"was in the work for {_ms(held.until - held.got)}"
    if held.lease != NEVER:
        yield f"lease until {_lease(picture, held)}"
    if held.read is not None:
        misfit = ": the counter did not hold it then" if held.read_in == NEVER else ""
        yield f"read {held.read} {_between(held.reading, held.read_at)}{misfit}"
    if held.wrote is not None:
        harm = f": {amount(destroyed, 'increment')} overwritten" if destroyed else ""
        yield f"wrote {held.wrote} over {held.overwrote} {_between(held.writing, held.wrote_at)}{harm}"
    elif held.is_refused:
        yield "its write was refused"
    elif held.read is not None:
        yield "was about to write; nothing later is recorded"
    if is_locked:
        yield f"release: {held.result}"


def _lease(picture: Timeline, held: DrawnGrant) -> str:
    life = picture.lives[held.lease]
    if life.how == "del" and life.by not in (NEVER, life.holder):
        return f"{_when(lease_end(life, picture))}, deleted by {picture.held[life.by].request}"
    return f"{_when(lease_end(life, picture))} ({_ended(life)})"


def _ended(life: Life) -> str:
    return "deleted" if life.how == "del" else life.how or "never freed"


def _between(since: int, until: int) -> str:
    return f"by {_when(until)}" if since == NEVER else f"between {_when(since)} and {_when(until)}"


def _when(at: int) -> str:
    return f"+{at / 1e6:.{5 if at < 100_000 else 4}f} s"


def _ms(us: int) -> str:
    return f"{us / 1000:.{0 if us >= 100_000 else 1 if us >= 1000 else 3}f} ms"
