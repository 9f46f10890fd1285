"""A fence that knows the owner: of two holders with one number, the resource accepts only the first.

**Problem** A standby that lacks only the last grant takes over and repeats the grant's number: the resource accepts both holders.
**Idea** A number that is given again is not unique; number and owner together are. The lock of `fencing` already hands on its
owner. Here the resource also keeps the owner that was the first to show the number, and refuses any other owner with that number.
**Source** L. Lamport, "The Part-Time Parliament" (1998): a ballot number is a pair, of an integer and the name of who makes it.
**Still**
- The resource checks each write alone: if a holder is stopped between its two writes, the first stays and the second is refused.
- A store that comes back without its data counts its fences from one again, and the resource refuses every new holder.
- The resource has to take part: it must keep number and owner, compare them and write, all in one step.
- The lock of a thread that hangs in a living process is renewed for ever.
**See it**
- `lab run failover_last_grant --stage fencing_owner`
- `lab run fence_restart --stage fencing_owner`
- `lab diff fencing fencing_owner`
"""

from dataclasses import replace

from app.locks.fencing import STAGE as FENCING

STAGE = replace(
    FENCING,
    follows="fencing",
    resource="fenced_owner",
    gains="survives_failover survives_store_restart",
)
