"""Broken: enters with three votes, however much of the TTL the asking has used up."""

from dataclasses import replace

from app.locks import redlock


class Lock(redlock.Lock):
    def by_majority(self):
        answers = self.store.all("SET", self.key, self.token, "NX", "PX", self.ttl_ms)
        return answers.count("OK") > len(answers) // 2


STAGE = replace(redlock.STAGE, lock=Lock)
