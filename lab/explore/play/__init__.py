"""Be the scheduler: pages on which a reader chooses the order.

In it: what a level asks, with the kept levels of the ladder (``levels``), and levels for any other stage
(``own_levels``). ``board`` has what a page shows of a state, ``report`` what an event did, ``texts`` the texts in both
languages. ``graph`` is a whole search, with the distance of each state from the goal, which ``encoding`` writes as small numbers.
``page`` writes the files. Each edge of a graph was executed by the stage's own code on a real Redis.
Not in it: the search itself (``lab/explore``).
"""
