"""A queue in ZooKeeper with a fence: the resource refuses the write of a holder that is late.

**Problem** A process that is stopped sends no heartbeats: its session ends, and when it resumes, it works on without the lock.
**Idea** The number of the transaction that made a node (`czxid`) only grows. So it is a fence that needs no counter. The
lock of `zookeeper` already hands it on; here the resource notes it at each read, and refuses a write with an older number.
**Source** M. Kleppmann, "How to do distributed locking" (2016): ZooKeeper's `zxid` as a fencing token.
**Still**
- The resource must compare and write in one step; a resource that can do so often needs no lock.
- If a holder is stopped between its two writes, the first write stays.
- A holder that acquires its own lock again waits for itself.
**See it**
- `lab run session_loss --stage zookeeper_fenced`
- `lab run frozen_before_write --stage zookeeper_fenced`
- `lab diff zookeeper zookeeper_fenced`
"""

from dataclasses import replace

from app.locks.zookeeper import STAGE as ZOOKEEPER

STAGE = replace(
    ZOOKEEPER,
    follows="zookeeper",
    resource="fenced",
    gains="""
        survives_a_freeze
        survives_a_late_freeze
        survives_a_delayed_write
        survives_session_loss
        stops_when_lost
    """,
)
