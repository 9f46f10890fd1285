"""Every order: what can happen to a lock. A run samples one.

In it: ``code``, a stage's unchanged code in replicas whose threads, time and chance the search decides; ``store``, the real
Redis as a table; ``search``, everything that can happen in both, whose the lock is (``oracle``, ``ghosts``), and what an event
breaks (``rules``); ``story``, a schedule in scenes and pictures; ``play``, pages on which a reader chooses the order; ``enact``,
a schedule on real replicas; ``commands``, what the command line calls. ``model`` is what all rooms agree on.
``questions`` are the searches, ``workers`` processes that answer them, a ``decision`` what came of it; it is ``kept`` as data. A
``schedule`` is a file that runs again.
"""
