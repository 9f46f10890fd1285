"""What a page says of a thing in a run's drawing that a reader points at: lines, of which the first names the thing.

It stands in an attribute of the thing's element; that of a grant has its place as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from lab.language import Language
from lab.report.lanes.rows import lease_end
from lab.story import say
from lab.story.timeline import NEVER, DrawnFault, DrawnGrant, Life, Timeline

ENDS = {"del": "del", "expired": "expired", "set over": "set_over", "": "never"}


def grant(picture: Timeline, place: int, is_locked: bool, destroyed: int, language: Language) -> str:
    """Return what a request did with the lock, if there is one. destroyed: how many increments its write overwrote."""
    return f'data-held="{place}" {_says(_of_grant(picture, place, is_locked, destroyed, language))}'


def life(picture: Timeline, life: Life, language: Language) -> str:
    """Return what became of a key at the lock's store."""
    return _says(_of_life(picture, life, language))


def _of_life(picture: Timeline, life: Life, language: Language) -> Iterator[str]:
    key = picture.keys[life.key]
    if life.holder != NEVER:
        yield _tip("key_of", language, key=key, request=picture.held[life.holder].request)
    else:
        yield _tip("key", language, key=key)
    yield _tip("set", language, at=_when(life.born, language))
    if life.due != NEVER:
        yield _tip("lease_ended", language, at=_when(lease_end(life, picture), language))
    if life.gone == NEVER:
        yield _tip("never", language)
    elif life.by != NEVER:
        yield _tip(
            "gone_by", language, how=_ended(life, language), request=picture.held[life.by].request, at=_when(life.gone, language)
        )
    else:
        yield _tip("gone", language, how=_ended(life, language), at=_when(life.gone, language))
    if life.touched:
        yield _tip("renewed", language, len(life.touched))


def fault(picture: Timeline, fault: DrawnFault, language: Language) -> str:
    """Return what a fault did, and who got in next."""
    lines = [_tip("fault", language, kind=say.fault(fault.kind, language), failpoint=fault.failpoint)]
    at, until = _when(fault.at, language), _when(fault.recovered, language)
    lines.append(_tip("reached" if fault.request else "began", language, request=fault.request, at=at, until=until))
    if fault.back != NEVER:
        lines.append(_tip("back", language, at=_when(fault.back, language)))
    if fault.next_got == NEVER:
        return _says([*lines, _tip("next_none", language)])
    name = "next_grant" if picture.is_locked else "next_work"
    return _says([*lines, _tip(name, language, request=fault.next_request, at=_when(fault.next_got, language))])


def _tip(name: str, language: Language, n: int = 1, **places: object) -> str:
    return say.text("tip", name, language, n, **places)


def _says(lines: Iterable[str]) -> str:
    return f'data-says="{escape(chr(10).join(lines))}"'


def _of_grant(picture: Timeline, place: int, is_locked: bool, destroyed: int, language: Language) -> Iterator[str]:
    held = picture.held[place]
    yield _tip("grant", language, request=held.request, place=picture.replicas[held.replica])
    if is_locked:
        yield _tip("waited", language, ms=_ms(max(0, held.got - held.asked), language), at=_when(held.got, language))
        yield _tip("held", language, ms=_ms(held.until - held.got, language))
    else:
        yield _tip("entered", language, at=_when(held.got, language))
        yield _tip("worked", language, ms=_ms(held.until - held.got, language))
    if held.lease != NEVER:
        yield _tip("lease", language, until=_lease(picture, held, language))
    if held.read is not None:
        name = "read_misfit" if held.read_in == NEVER else "read"
        yield _tip(name, language, value=held.read, when=_between(held.reading, held.read_at, language))
    if held.wrote is not None:
        places = {"value": held.wrote, "over": held.overwrote, "when": _between(held.writing, held.wrote_at, language)}
        yield _tip("wrote_over" if destroyed else "wrote", language, destroyed or 1, **places)
    elif held.is_refused:
        yield _tip("write_refused", language)
    elif held.read is not None:
        yield _tip("write_missing", language)
    if is_locked:
        yield _tip("release", language, result=held.result)


def _lease(picture: Timeline, held: DrawnGrant, language: Language) -> str:
    life = picture.lives[held.lease]
    at = _when(lease_end(life, picture), language)
    if life.how == "del" and life.by not in (NEVER, life.holder):
        return _tip("deleted_by", language, at=at, request=picture.held[life.by].request)
    return _tip("ended", language, at=at, how=_ended(life, language))


def _ended(life: Life, language: Language) -> str:
    return _tip(ENDS.get(life.how, "other_end"), language, how=life.how)


def _between(since: int, until: int, language: Language) -> str:
    if since == NEVER:
        return _tip("by", language, until=_when(until, language))
    return _tip("between", language, since=_when(since, language), until=_when(until, language))


def _when(at: int, language: Language) -> str:
    return say.text("piece", "moment", language, s=f"{at / 1e6:.{5 if at < 100_000 else 4}f}")


def _ms(us: int, language: Language) -> str:
    return say.text("piece", "duration", language, ms=f"{us / 1000:.{0 if us >= 100_000 else 1 if us >= 1000 else 3}f}")
