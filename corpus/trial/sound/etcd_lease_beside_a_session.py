"""Sound: each try has a lease of its own in etcd, which nobody renews; the replica has a session as well, as a member."""

import time
from dataclasses import replace
from uuid import uuid4

from app.lock import Grant, NotAcquired, NotOwner, claims
from app.locks import etcd


class Lock:
    def __init__(self, store, key, ttl_ms, wait_ms, retry_ms):
        self.store, self.key = store, key
        self.ttl_s, self.wait_ms, self.retry_ms = -(-ttl_ms // 1000), wait_ms, retry_ms

    def run(self, work):
        self.store.session(5)  # the replica is a member as long as this session lives
        client, token = self.store.plain(), uuid4().hex
        lease = self.acquire(client, token)
        try:
            result = work(Grant(self.key))
        finally:
            was_mine = self.release(lease)
        if not was_mine:
            raise NotOwner(self.key, token)
        return result

    def acquire(self, client, token):
        until_s = time.monotonic() + self.wait_ms / 1000
        while True:
            lease = client.lease(self.ttl_s)
            if client.create(self.key, token, lease):
                return lease
            lease.revoke()
            if time.monotonic() > until_s:
                raise NotAcquired(self.key, self.wait_ms)
            time.sleep(self.retry_ms / 1000)

    def release(self, lease):
        try:
            lease.revoke()  # deletes the key of this lease, and never that of another holder
        except self.store.Error:
            return False
        return True


STAGE = replace(
    etcd.STAGE,
    lock=Lock,
    ttl_ms=10_000,
    claims=claims("exclusive_in_process exclusive releases_only_its_own releases_atomically counts_once freed_after_failure"),
)
