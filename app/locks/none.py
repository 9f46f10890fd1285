"""No lock: each request reads the counter, adds one, and writes it back.

**Problem** Many requests want to add one to the same number.
**Idea** Do nothing about it: read the number, add one, write it back.
**Still**
- Two requests read the same number, and one of the two increments is overwritten.
- Reading and writing are two commands, and another request can write between them.
**See it**
- `lab run rush --stage none`
- `lab run one_replica --stage none`
"""

from app.lock import Grant, Stage, claims


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        pass

    def run(self, work):
        return work(Grant(key=""))


STAGE = Stage(
    lock=Lock,
    claims=claims("""
        serves_most_requests
    """),
)
