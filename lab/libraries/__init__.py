"""The locks of published libraries, and known failures of them: installed, tested, listed.

In it: the shelves ``libraries/`` and ``libraries/failures``, their environments, the scorecard, and the commands for them.
Not in it: the test of one lock (``lab/own_lock``).
"""
