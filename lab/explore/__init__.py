"""All orders: what can happen to a lock. A run samples one order.

In it: the stage's code as a tree (``client_tree``), learned by running it with the explorer's time, threads and chance
(``overlay``, ``copies``, ``replica``, ``program``) and redis-py on connections that wait (``connection``). Histories after
which the code remembers the same (``memory``) are one, and what makes no difference any more is dropped (``forgotten``). The
real Redis as a table (``server_table``). What can happen in both, with faults (``world``, ``state``, ``event``, ``budget``,
``faults``, ``clock``; ``alone`` for one client), with naps (``parking``, ``naps``), pipelines (``in_flight``) and transactions
(``transaction``, ``watching``). Several servers are one table after the other (``nodes``): each executes a command at a moment
of its own (``fan_out``, otherwise ``one_server``), a lock is most of their ``votes``, servers that are ``alike`` are folded,
and so are the moments that stay ``unnoticed``. The ``search`` goes breadth first, so what it finds is shortest, and counts all
schedules. ``rules`` and ``ghosts`` say which claim an event breaks. ``replay`` runs each finding again from an empty server,
without tables, where it can in one round trip (``rehearsal``). ``decision`` asks one budget of faults after the other;
``result`` says what was decided. A schedule in words is ``story``; as an observer sees it, it is a ``scene`` after the other,
with the ``deed`` of each event (``vote_deed`` at one of several servers). From these come the sentences (``narrative``), the
``picture`` (with ``shapes`` and ``server_lanes``) and the ``lanes`` on a terminal. Not in it: stores whose states cannot be
loaded.
"""
