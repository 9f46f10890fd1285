"""Sound: a thread sends the release after the answer, and the script compares the token."""

import threading
from dataclasses import replace

from app.locks import lua


class Lock(lua.Lock):
    def release(self):
        threading.Thread(target=self.release_script, args=([self.key], [self.token])).start()


STAGE = replace(lua.STAGE, lock=Lock)
