"""Broken: releases GET_LOCK within the transaction, so the write becomes valid only after the next holder may have read."""

from dataclasses import replace

from app.lock import Grant, NotAcquired, claims
from app.locks import mysql_insert


class Lock(mysql_insert.Lock):
    def run(self, work):
        with self.store.transaction():
            if not self.store.execute("SELECT 1 FROM DUAL WHERE GET_LOCK(%s, %s) = 1", self.key, self.wait_ms / 1000):
                raise NotAcquired(self.key, self.wait_ms)
            try:
                return work(Grant(self.key))
            finally:
                self.store.execute("SELECT 1 FROM DUAL WHERE RELEASE_LOCK(%s) = 1", self.key)


STAGE = replace(
    mysql_insert.STAGE,
    lock=Lock,
    resource="mysql_row",
    claims=claims("exclusive_in_process exclusive held_to_the_end counts_once"),
)
