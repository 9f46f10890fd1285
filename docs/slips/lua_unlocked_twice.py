"""Slip: unlocks twice, and the script compares the token each time.

**Idea** The release is sent again, to be sure. It compares the token each time.
**See it**
- `lab explore docs/slips/lua_unlocked_twice.py`
"""

from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        super().release()
        super().release()


STAGE = replace(lua.STAGE, lock=Lock)
