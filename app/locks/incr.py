"""No lock: the store itself adds one, by the command INCR.

**Problem** Reading and writing are two commands, and another request can write between them.
**Idea** INCR is one command of the store: it reads and writes, and no other command runs in between. So no lock is needed.
**Source** redis.io, INCR, "Pattern: Counter".
**Still**
- It works only if the whole work is one command. Work that decides something between read and write needs a lock.
**See it**
- `lab run rush --stage incr`
- `lab diff none incr`
"""

from app.lock import Grant, Stage


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        pass

    def run(self, work):
        return work(Grant(key=""))


STAGE = Stage(
    lock=Lock,
    follows="none",
    resource="one_command",
    gains="exclusive_in_process exclusive counts_once survives_a_delayed_write",
)
