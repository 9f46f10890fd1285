"""Sound: sends its release twice, to be sure; the second time it finds nothing of its own."""

from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        super().release()
        super().release()


STAGE = replace(lua.STAGE, lock=Lock)
