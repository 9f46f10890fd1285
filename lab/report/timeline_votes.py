"""Match the votes of several lock servers, or the leases of one, with grants, by the events that each server reported.

The events name no request. So a vote is matched with the grant in whose acquire its key was set, if the key stayed until
the release; and a lease with the grant that fits best. The lab receives an event some time after the fact, and a replica stamps a
grant some time after the store gave it. This is for pictures alone: no verdict depends on it.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter

from lab.evidence.fault_record import AT_THE_STORE
from lab.evidence.history import KeyEvent
from lab.story.timeline import FORGOTTEN, NEVER, RECEIVED_WITHIN_US, DrawnGrant, Life, Timeline

NUMBERED = re.compile(r"\D+(\d+)")  # the name of one of several servers
FEWEST = 3  # servers: with fewer there is no vote
SET_WITHIN_US = 20_000  # on an idle machine, the lab receives the event of a set key within this time
TOUCHED_AFTER_US = 2_000  # an ``expire`` sooner than this belongs to the grant itself, and is no renewal
SENT_BEFORE_US = 2_000  # the journal has the time of the command to the last server; the first server got it a little earlier
ENDS = ("del", "expired")  # the events that end a key's life
BORN = attrgetter("born")


def voters_of(nodes: Iterable[str]) -> list[str]:
    """Return the names of the voting servers in a picture; an empty list if fewer than three reported events.

    nodes: the names of all servers that reported an event.
    """
    numbers = sorted({int(match[1]) for node in nodes if (match := NUMBERED.fullmatch(node))})
    return [f"server {number}" for number in numbers] if len(numbers) >= FEWEST else []


def lives_of(events: Iterable[tuple[int, int, KeyEvent]], ttl_us: int, are_votes: bool) -> Iterator[Life]:
    """Yield the lives of keys at one server, or the votes of several, in the order in which they began.

    events: each with its moment in microseconds of the picture, and with the place of the key, or of the server. If several
    servers have a key, its life on the first of them counts. ttl_us: the lock's TTL; 0 without one.
    """
    living: dict[int, tuple[Life, str]] = {}  # by place: the life, and the server that reported it
    for at, place, event in events:
        life, reported_by = living.get(place, (None, ""))
        if life is not None and event.node != reported_by:
            continue
        if event.event == "expire":
            if life is not None:
                life.due = at + ttl_us if ttl_us else NEVER
                life.touched += [at] * (at - life.born > TOUCHED_AFTER_US)
        elif event.event in ENDS:
            if life is not None:
                life.gone, life.how = at, event.event
                del living[place]
        elif life is None or event.event == "set":  # all other events can begin a life
            if life is not None:
                life.gone, life.how = at, FORGOTTEN if are_votes else "set over"
            born = Life(place, at, at + ttl_us if are_votes and ttl_us else NEVER)
            living[place] = born, event.node
            yield born


def assign_votes(picture: Timeline) -> None:
    """Find the grant of each vote. If a server forgot a vote, it did so at the last fault of the lock's servers before."""
    faults = sorted(fault.at for fault in picture.faults if fault.effect in AT_THE_STORE)
    for vote in picture.votes:
        if vote.how == FORGOTTEN:
            vote.gone = next((at for at in faults if vote.born <= at <= vote.gone), vote.gone)
    of_node: list[list[Life]] = [[] for _ in picture.voters]
    for vote in sorted(picture.votes, key=BORN):
        of_node[vote.place].append(vote)
    # a grant without a command was left by another request of its process
    missing = {place: {*range(len(picture.voters))} for place, held in enumerate(picture.held) if held.commands}
    spare = len(picture.voters) - picture.majority
    for within_us in (SET_WITHIN_US, RECEIVED_WITHIN_US):  # a busy machine receives votes late: the second look finds them
        for place in [place for place, nodes in missing.items() if len(nodes) > spare]:
            for node in sorted(missing[place]):
                if (own := _first_vote(of_node[node], picture.held[place], within_us)) is not None:
                    own.holder = place
                    missing[place].remove(node)


def _first_vote(votes: Sequence[Life], held: DrawnGrant, within_us: int) -> Life | None:
    """Return the first vote of a server that began in the acquire of a grant and stayed until the release; None without one.

    within_us: how long after the grant the lab may have received the vote.
    """
    asked = held.asked if held.acquiring == NEVER else held.acquiring
    since = bisect_left(votes, asked - SENT_BEFORE_US, key=BORN)
    until = bisect_right(votes, held.got + within_us, key=BORN)
    return next((vote for vote in votes[since:until] if vote.holder == NEVER and _is_kept(vote, held)), None)


def _is_kept(vote: Life, held: DrawnGrant) -> bool:
    """Return whether a vote was still there when the lock was granted, and was not deleted before the release."""
    return (vote.how != "del" or vote.gone >= held.until) and (vote.gone == NEVER or vote.gone > held.got)


def majority_ends(picture: Timeline) -> dict[int, int]:
    """Return for each grant that had a majority of votes, by its index, when it lost the majority."""
    ends: dict[int, list[int]] = {}
    for vote in picture.votes:
        ends.setdefault(vote.holder, []).append(vote.end(picture.end))
    needed = picture.majority
    return {place: sorted(ended)[-needed] for place, ended in ends.items() if place != NEVER and len(ended) >= needed}


DELETED_WITHIN_US = 20_000
STOLEN_US = 20_000  # with thefts: added to the misfit of a grant if its release did not end the life
CANDIDATES = 64  # grants near the beginning of a life that are tried


def assign_lives(picture: Timeline, robbers: Mapping[int, str]) -> None:
    """Find for each life of a key its grant, and the release that ended it.

    If the picture has the whole run, a key has as many lives as grants, in the same order. All other lives are
    matched by their moments. The best fits are settled first: the lab may receive events so late that several grants fit the
    beginning of one life. robbers: by the place of a grant, the request whose release deleted its lock, as the judge found it.
    Each other lock that was deleted was deleted by its holder.
    """
    if len(picture.held) == picture.grants:
        _assign_in_order(picture)
    granted: dict[int, list[tuple[int, int]]] = {}
    for place, held in enumerate(picture.held):
        granted.setdefault(held.key, []).append((held.got, place))
    fits = sorted(
        (*_misfit(picture.held[place], life, number, bool(robbers)), number, place)
        for number, life in enumerate(picture.lives)
        if life.holder == NEVER
        for place in _nearest(granted.get(life.place, []), life.born, RECEIVED_WITHIN_US)
        if picture.held[place].lease == NEVER and picture.held[place].asked <= life.born
    )
    for *_, number, place in fits:
        if picture.lives[number].holder == picture.held[place].lease == NEVER:
            picture.lives[number].holder, picture.held[place].lease = place, number
    places = {held.request: place for place, held in enumerate(picture.held)}
    for life in picture.lives:
        if life.how == "del":
            life.by = places.get(robbers[life.holder], NEVER) if life.holder in robbers else life.holder


def _assign_in_order(picture: Timeline) -> None:
    """Find the grants of a key's lives if there are as many grants as lives and their order is known.

    The store reports events in order, even if the lab receives them late. The order of two grants is known if the later one was
    requested after the earlier one had been granted.
    """
    of_key: dict[int, tuple[list[int], list[int]]] = {life.place: ([], []) for life in picture.lives}
    for number, life in enumerate(picture.lives):
        of_key[life.place][0].append(number)
    for place in sorted(range(len(picture.held)), key=lambda place: picture.held[place].got):
        if picture.held[place].key in of_key and picture.held[place].commands:
            of_key[picture.held[place].key][1].append(place)
    for numbers, places in of_key.values():
        pairs = list(zip(numbers, places, strict=True)) if len(numbers) == len(places) else []
        if all(picture.held[place].asked <= picture.lives[number].born for number, place in pairs):
            at_once = {pair for pair in pairwise(places) if picture.held[pair[0]].got > picture.held[pair[1]].acquiring}
            unknown = {place for pair in at_once for place in pair}
            for number, place in pairs:
                if place not in unknown:
                    picture.lives[number].holder, picture.held[place].lease = place, number


def _freed(held: DrawnGrant) -> bool:
    """Return whether a release may have deleted the key. It may have, even if the work had failed before."""
    return held.released != NEVER and (held.result == "ok" or held.result.startswith("error: "))


def _misfit(held: DrawnGrant, life: Life, number: int, thefts: bool) -> tuple[int, int, int]:
    """Return the misfit of a grant and a life, as a tuple to sort by: smaller is better.

    Without thefts, both ends count, in the order of the lives. With thefts, the beginning counts most.
    """
    ended = life.how == "del" and _freed(held) and held.until <= life.gone <= held.released + DELETED_WITHIN_US
    begin, end = abs(held.got - life.born), abs(held.released - life.gone) if ended else 0
    if thefts:
        return begin + (min(end, STOLEN_US) if ended else STOLEN_US), 0, 0
    return int(not ended), number, begin + end


def _nearest(stamped: list[tuple[int, int]], at: int, within: int) -> list[int]:
    """Return the indices with stamps near a time, the nearest first."""
    since, until = bisect_left(stamped, (at - within,)), bisect_left(stamped, (at + within,))
    return [place for _, place in sorted(stamped[since:until], key=lambda pair: abs(pair[0] - at))][:CANDIDATES]
