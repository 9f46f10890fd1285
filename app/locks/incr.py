"""No lock at all: let the store add one.

**Problem** Reading and writing are two commands; whatever lies between them can be overtaken.
**Idea** Where the work is one command of the store (INCR), nothing lies between: nothing needs a lock.
**Still**
- It helps only where the whole work is one command; a decision in between brings the lock back.
**See it**
- `lab run rush --stage incr`
- `lab diff none incr`
"""

from app.lock import Grant, Stage, claims


class OneCommand:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        pass

    def run(self, work):
        return work(Grant(key=""))


STAGE = Stage(
    lock=OneCommand,
    follows="none",
    resource="one_command",
    claims=claims("""
        exclusive_in_process
        exclusive
        counts_once
        reentrant
    """),
)
