"""Sound: each request draws a number, and waits by BLPOP for the message of the holder of the number before."""

from dataclasses import replace

from app.lock import claims
from app.locks import setnx


class Lock(setnx.Lock):
    def acquire(self):
        self.number = self.store.incr(f"{self.key}:numbers")
        while self.number > 1 and not self.store.blpop([f"{self.key}:{self.number}"], timeout=1):
            pass

    def release(self):
        self.store.rpush(f"{self.key}:{self.number + 1}", "your turn")


STAGE = replace(
    setnx.STAGE,
    lock=Lock,
    claims=claims("""
        exclusive_in_process exclusive held_to_the_end counts_once fair prompt_handover
        survives_a_freeze survives_a_late_freeze
    """),
)
