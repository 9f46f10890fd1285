"""Evidence to findings to verdict. Nothing here starts a process.

In it: ``analysis`` reads the history once, ``grant`` assembles the grants, and one collector for each concern (``waits``,
``handovers``, ``overlaps``, ``leases``, ``writes``, ``faults``, ``witnesses``, ``curves``) writes into the ``findings``.
``attribution`` finds which write destroyed which increment, and by which of the ``mechanisms``. ``promises`` is the table of all
claims: what breaks each, after which faults, within which bound; its functions are in ``safety`` (what becomes of the work) and
``liveness`` (who gets the lock, and when). ``verdict`` weighs, and ``judgement`` is the record in ``verdict.json``. Not in it:
how a verdict is shown (``lab/report``).
"""
