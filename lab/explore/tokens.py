"""The tokens that clients draw, in bytes: by them a client's name gets into its memory and into the lock's store."""

from __future__ import annotations

import re
from collections.abc import Sequence

# the numbers that ``Replica.fresh`` returns, as ``uuid`` and ``secrets`` write them
TOKEN = re.compile(rb"(?:0{15}|0{8}-0{4}-0{3})([1-4])([0-9a-f]{16}|-[0-9a-f]{4}-[0-9a-f]{12})")
MOST_CLIENTS = 4


def renamed_to(data: bytes, places: Sequence[int]) -> bytes:
    """Return bytes in which each token names the place of its client, and not the client. places: of each client."""
    return TOKEN.sub(lambda found: b"token of %d: %b" % (places[int(found[1]) - 1], found[2]), data)


def has_token(data: bytes, but_of: int = -1) -> bool:
    """Return whether there is a token of a client in some bytes, other than of one."""
    return any(int(found[1]) - 1 != but_of for found in TOKEN.finditer(data))
