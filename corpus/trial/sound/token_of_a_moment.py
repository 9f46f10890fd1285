"""Sound: the token says when the request came, by datetime, and ends with a part of a uuid."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from app.locks import lua


class Lock(lua.Lock):
    def __init__(self, *args):
        super().__init__(*args)
        self.token = f"{datetime.now(UTC):%H:%M:%S.%f} {uuid4().hex[-12:]}"


STAGE = replace(lua.STAGE, lock=Lock)
