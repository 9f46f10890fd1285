"""Broken: does its work, and answers with a value that it made up."""

from dataclasses import replace

from app.locks import lua
from app.resource import Write


class Lock(lua.Lock):
    def run(self, work):
        super().run(work)
        return Write(value=1, overwrote=0)


STAGE = replace(lua.STAGE, lock=Lock)
