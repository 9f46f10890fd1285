"""Slip: the map of renewals has one entry for each name of a lock, and not for each holder.

**Idea** The renewals of a process are in a map. Its key is the name of the lock. If it has an entry, none is added.
**See it**
- `lab run lost_release --stage docs/slips/one_renewal_a_name.py --replicas 1 --ttl-ms 600 --work-ms 1500 --requests 12 --users 4`
"""

from dataclasses import replace

from app.locks import watchdog


class Lock(watchdog.Lock):
    def __eq__(self, other):  # locks of one name are one key of the map: its first lock stays there, and the next is not renewed
        return self.key == other.key

    def __hash__(self):
        return hash(self.key)

    def release(self):
        was_held = self.release_script([self.key], [self.owner]) is not None
        watchdog.RENEWER.forget(self)  # after the release, as in Redisson of that time: the next holder may be there already
        return was_held


STAGE = replace(watchdog.STAGE, lock=Lock)
