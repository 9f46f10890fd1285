"""Slip: EXPIRE takes whole seconds, and half a second becomes 0.

**Idea** The expiry is given in whole seconds, as `EXPIRE` wants them: the rest is cut off.
**See it**
- `lab explore docs/slips/whole_seconds.py --ttl-ms 500`
- `lab run rush --stage docs/slips/whole_seconds.py --ttl-ms 500`
"""

from dataclasses import replace

from app.locks import reentrant


class Lock(reentrant.Lock):
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        super().__init__(store, key, ttl_ms, wait_ms, retry_ms)
        script = store.register_script(reentrant.ACQUIRE.replace("pexpire", "expire"))
        self.acquire_script = lambda keys, args: script(keys, [args[0], int(args[1] / 1000)])


STAGE = replace(reentrant.STAGE, lock=Lock)
