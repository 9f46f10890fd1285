"""Run a lock of any language, in a program of its own. ``docs/worker.md`` is the user's manual.

A *worker* is a program that holds locks. It reads lines from its standard input, and answers on its standard output::

    lane 3 41233                            the store of lane 3 is at this port of 127.0.0.1; several ports: several servers
    3 acquire KEY TTL_MS WAIT_MS RETRY_MS   → 3 yes [FENCE]  or  3 no
    3 release                               → 3 ok           or  3 lost
    drop 3                                  forget lane 3, and close its connections; no answer

Any call can be answered with ``3 error TEXT``. A worker ends when its standard input ends. A lane serves one request at a time
and has connections of its own, so each command belongs to one request. Commands that a lane sends while no call waits are
renewals.

``resp`` splits a stream of bytes into messages, ``link`` forwards a connection's commands to the store, ``lane`` has the
connections of one request at a time, ``worker`` starts the program, and makes the lock of a request. ``own_client`` lets a lock
in the replica's own process use a lane, if the lab cannot see its client.
"""
