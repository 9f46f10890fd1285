"""All orders: what can happen to a lock. A run samples one order.

In it: the stage's code as a tree (``client_tree``), run with the explorer's time, threads and chance (``overlay``, ``copies``,
``replica``, ``program``) and redis-py on connections that wait (``connection``). Histories with the same ``memory`` are one; the
rest is ``forgotten``. The real Redis as a table (``server_table``). What can happen in both (``world``, ``one_server``,
``state``, ``event``), with ``faults`` (``budget``), a ``clock``, naps (``parking``, ``naps``), pipelines (``in_flight``) and
transactions (``transaction``, ``watching``); ``alone`` for one client. Several servers (``nodes``) execute a command each at its
own moment (``fan_out``), and have ``votes``; ``alike`` ones and ``unnoticed`` moments are folded. The ``search`` counts all
schedules; ``rules`` and ``ghosts`` say what an event breaks. ``replay`` runs each finding again without tables (``rehearsal``:
in one round trip). ``decision`` asks all budgets; ``result`` says what was decided. A ``story`` is a schedule in words: one
``scene`` after the other, each with a ``deed`` or ``vote_deed``. It becomes sentences (``narrative``), a ``picture``
(``shapes``, ``server_lanes``) or ``lanes``. Not in it: stores whose states cannot be loaded.
"""
