"""A queue in etcd with a fence: the resource refuses the write of a holder that is late.

**Problem** A process that is stopped renews no lease: its session ends, and when it resumes, it works on without the lock.
**Idea** The revision at which a key was created only grows. So it is a fence that needs no counter. The lock of `etcd`
already hands it on; here the resource notes it at each read, and refuses a write with an older revision.
**Source** Jepsen, "etcd 3.4.3" (2020): the revision of the lock's key as a fencing token.
**Still**
- The resource must compare and write in one step; a resource that can do so often needs no lock.
- If a holder is stopped between its two writes, the first write stays.
- A holder that acquires its own lock again waits for itself.
**See it**
- `lab run session_loss --stage etcd_fenced`
- `lab run frozen_before_write --stage etcd_fenced`
- `lab diff etcd etcd_fenced`
"""

from dataclasses import replace

from app.locks.etcd import STAGE as ETCD

STAGE = replace(
    ETCD,
    follows="etcd",
    resource="fenced",
    gains="""
        survives_a_freeze
        survives_a_late_freeze
        survives_a_delayed_write
        survives_session_loss
        stops_when_lost
    """,
)
