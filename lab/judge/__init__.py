"""Evidence to findings to verdict. Nothing here starts a process.

In it: the pass over the history (``analysis``), the grants and the ledger, which write destroyed which increment and by which
mechanism, and one check for each claim (``checks/``). Not in it: how a verdict is shown (``lab/report``).
"""
