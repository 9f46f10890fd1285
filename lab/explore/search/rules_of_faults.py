"""What each fault does to the ghosts."""

from __future__ import annotations

from lab.explore.search.about import About
from lab.explore.search.ghosts import ASKS, NOT_YET, OVER, Ghosts, Left
from lab.explore.search.harm import Why


def paused(ghosts: Ghosts, actor: int, writing: bool) -> Ghosts:
    """Return the ghosts after a pause. ``writing``: the request has looked at its lock for the last time."""
    hold = ghosts.holds[actor]
    if hold is None and ghosts.phases[actor] != ASKS:
        return ghosts
    if hold is None:  # it can keep others waiting that stand behind it
        ghosts = faulted(ghosts, actor, "pauses")
        return ghosts if ghosts.gone[actor] is not Why.ENTITLED else ghosts.of_actor(actor, gone=Why.PAUSED)
    # the lease outlived an earlier pause: what follows from a later one is not due to the earlier
    return ghosts.of_actor(actor, holds=hold._replace(paused_late=writing, paused=not writing))


def faulted(ghosts: Ghosts, actor: int, fault: str, in_vain: bool = False) -> Ghosts:
    """Return the ghosts after a fault hit a request. It is kept with the lock that the request has taken, if it has."""
    left = Left(fault, ghosts.phases[actor], in_vain)
    ghosts = ghosts._replace(doubled=ghosts.doubled or (fault == "resends" and not in_vain))
    hold = ghosts.holds[actor]
    if hold is not None and fault == "lost_replies":
        ghosts = ghosts.of_actor(actor, holds=hold._replace(unrenewed=True))
    owned = [(key, owner) for key, owner in ghosts.owners if owner.actor == actor]
    for key, owner in owned:
        ghosts = ghosts.owned_by(key, owner._replace(left=(*owner.left, left)))
    # what it has taken can be the lock of its thread's request before, that has passed to another
    return ghosts if owned and left.phase != ASKS else ghosts._replace(left=(*ghosts.left, left))


def crashed(ghosts: Ghosts, actor: int) -> Ghosts:
    """Return the ghosts after the replica of a request has died."""
    if ghosts.phases[actor] == OVER:
        return ghosts
    ghosts = faulted(ghosts, actor, "crashes")
    return ghosts.of_actor(actor, holds=None, phases=OVER, gone=Why.ENTITLED, changed_ms=NOT_YET, released_own=NOT_YET, writes=0)


def restarted(ghosts: Ghosts, about: About, after: int, now_ms: int) -> Ghosts:
    """Return the ghosts after the store has lost its data, or one of several servers."""
    ghosts = ghosts._replace(vote_lost=ghosts.vote_lost or about.servers > 1)
    return without(ghosts, about, after, now_ms, Why.VOTE_LOST if about.servers > 1 else Why.STORE_LOST_IT)


def without(ghosts: Ghosts, about: About, after: int, now_ms: int, why: Why) -> Ghosts:
    """Return the ghosts after what no request has done freed the lock: its owner may not know."""
    if not ghosts.owners:
        return ghosts
    for key in about.oracle.free(after, now_ms):
        owner = ghosts.owner(key)
        if owner is None:
            continue
        ghosts = ghosts.owned_by(key, None)
        hold = ghosts.holds[owner.actor]
        if hold is None:
            if ghosts.phases[owner.actor] == ASKS:
                ghosts = ghosts.of_actor(owner.actor, gone=why)
        elif why is not Why.SLOW and hold.is_entitled(now_ms):
            ghosts = ghosts.of_actor(owner.actor, holds=hold._replace(why=why))
    return ghosts
