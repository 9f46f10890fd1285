"""Judge a run: from its evidence to findings, and from findings to a verdict. Nothing here starts a process.

In it: ``analysis`` reads the history once, ``grant`` assembles the grants, and one collector for each concern (``waits``,
``overlaps``, ``thefts``, ``writes``, ``faults``, ``stalls``, ``reentries``) writes into the ``findings``. ``entitlement`` states
which holder can rely on a lock, and from when until when. ``losses`` finds which write destroyed which increment, and by which
of the ``mechanisms``. ``promises`` is the table of all claims: how each breaks, after which faults, within which bound; its
functions are in ``violations``. ``verdict`` weighs the findings, and ``judgement`` is the record in ``verdict.json``. Not in it:
how a verdict is shown (``lab/report``).
"""
