"""Compare commands and replies of the explorer and of the cluster, although keys, owners and processes have different names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lab.explore.model import KEY, NUMBER
from lab.explore.store.resp import Failure

A_NUMBER = re.compile(r"-?\d+(\.\d+)?")
MADE = re.compile(  # finds a word that a replica has made and that is not in the code of the stage: an owner, a token
    r"\d{4}|Thread-\d"
    r"|(?<![\da-f])(?=[a-f-]*\d)[\da-f-]{8,}"  # hexadecimal
    r"|(?=\S*\d)(?=\S*[a-z])(?=\S*[A-Z])[\w+/=-]{12,}"  # base 64
)
A_PROCESS = re.compile(r"100[1-4]")  # matches a process number of the explorer
MARGIN_MS = 500  # times to live may differ by the duration of the earlier events
LEAST_MS = 100  # smaller numbers are not durations
EPOCH = 10**9  # larger numbers are times of day


class Names:
    """The words of the explorer, and the cluster's words for the same keys and tokens."""

    def __init__(self, lock_key: str, counter_key: str) -> None:
        self.keys = {lock_key: KEY, counter_key: NUMBER}
        self.made: dict[str, str] = {}  # by word of the explorer: the word of the cluster

    def plain(self, word: str) -> str:
        """Return a word of the cluster in which names of keys are replaced by the explorer's."""
        for long, short in self.keys.items():
            word = word.replace(long, short)
        return word

    def same_command(self, expected: Sequence[bytes], real: Sequence[str]) -> bool:
        """Return whether two commands are the same."""
        pairs = list(zip(map(_text, expected), map(self.plain, real), strict=False))
        return len(expected) == len(real) and all(self._same(*pair) for pair in pairs)

    def same_reply(self, expected: Any, real: Any) -> bool:
        """Return whether two replies are the same."""
        match expected:
            case Failure():
                return isinstance(real, str) and real.startswith("error: ")
            case tuple():
                pairs = zip(expected, real, strict=False) if isinstance(real, list) else ()
                return isinstance(real, list) and len(real) == len(expected) and all(self.same_reply(*pair) for pair in pairs)
            case None:
                return real is None
            case int():
                return real is not None and self._same(str(int(expected)), str(int(real) if isinstance(real, bool) else real))
            case _:
                return real is not None and self._same(_text(expected), "OK" if real is True else self.plain(str(real)))

    def _same(self, expected: str, real: str) -> bool:
        if expected == real:
            return True
        if A_NUMBER.fullmatch(expected) and A_NUMBER.fullmatch(real):
            is_process = A_PROCESS.fullmatch(expected) is not None
            return _near(float(expected), float(real)) or (is_process and self._known(expected, real))
        return self._known(expected, real)

    def _known(self, expected: str, real: str) -> bool:
        if expected not in self.made and MADE.search(expected) and real not in self.made.values():
            self.made[expected] = real
        return self.made.get(expected) == real


def _near(expected: float, real: float) -> bool:
    if min(expected, real) > EPOCH:
        return True
    return expected * real > 0 and min(abs(expected), abs(real)) > LEAST_MS and abs(expected - real) <= MARGIN_MS


def _text(word: object) -> str:
    return word.decode(errors="replace") if isinstance(word, bytes) else str(word)
