"""Decide the rights on the pages of ``lab ui``: the teacher's key, the key for voting, and the word by which a phone gets it.

If only this machine reaches the pages there are no keys, and every visitor is the teacher. A key comes once, in an
address (``?k=``). From then on a cookie stands for it. The cookie of a phone is a number that the server made and signed, in
Flask's session: a phone has one prediction, and cannot make up a second one. It gets one if it loses the cookie and scans again.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from enum import Enum, IntEnum, auto
from typing import NamedTuple

from werkzeug.wrappers import Request, Response

FREE, PAUSE_S = 3, 10.0  # wrong words that an address of the network has free; then it waits PAUSE_S before each further one
MOST_WRONG = 100  # wrong words, from all addresses together: then no word is accepted any more
DIGITS = "23456789"
WORDS = """
acorn anchor apple arrow autumn badge bagel banana barley beach bell berry bird blanket boat bread bridge brush butter button
camel candle canoe carpet castle cedar cheese cherry circle clock cloud clover coffee copper coral cotton cradle crane crayon
daisy desert dolphin donkey dragon eagle engine falcon feather fern flute forest garden ginger giraffe glass goose grape
hammer harbor hazel hill honey island ivory jacket jungle kettle kitten ladder lake lemon lily lion magnet maple marble meadow
melon mirror monkey moon mountain napkin needle nest ocean olive onion orange otter paddle panda parrot peach pencil pepper
piano pillow planet plum pocket poppy puzzle rabbit radish raven ribbon river robin rocket saddle salmon sand seal shell silver
snow spider spoon spruce squirrel star stone summer sunset swan table teapot thunder tiger timber tomato tulip turtle umbrella
valley velvet violin wagon walnut water whale willow window winter wolf yellow zebra
""".split()  # noqa: SIM905 - a list of words is read and mended more easily without quotes


class Role(IntEnum):
    """The rights of a visitor; each includes the rights before it."""

    STRANGER = auto()  # nothing
    ONLOOKER = auto()  # read: a program on the teacher's own machine, such as the browser of the projector
    VOTER = auto()  # predict
    TEACHER = auto()  # start, stop, and choose the question to the class


class Admission(Enum):
    """The answer to a word or a key of a visitor; the value names its sentence on the page."""

    OPEN = ""
    UNKNOWN = "unknown"
    WRONG = "wrong"
    TOO_SOON = "soon"
    CLOSED = "closed"


class Invitation(NamedTuple):
    """How phones come to the page; all empty if they cannot."""

    address: str = ""  # to be typed, without http://
    code: str = ""  # with the key; for the QR code
    word: str = ""  # to be typed on the page of the address


class Keys:
    """The keys of one ``lab ui``, and the words that visitors type. Safe to use from many threads.

    teacher: the teacher's key; empty if no visitor needs a key.
    """

    def __init__(self, teacher: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.teacher, self.vote = teacher, secrets.token_urlsafe(9)
        self.word = f"{secrets.choice(WORDS)} {secrets.choice(DIGITS)}"
        self._mutex, self._clock = threading.Lock(), clock
        self._wrong: dict[str, int] = {}  # how many wrong words came from an address
        self._waits_until: dict[str, float] = {}

    def typed(self, word: str, address: str) -> Admission:
        """Judge a word that was typed at an address of the network. After some wrong ones, that address has to wait.

        There are len(WORDS) × len(DIGITS) words. MOST_WRONG tries find the right one once in ten times at most.
        """
        with self._mutex:
            if sum(self._wrong.values()) >= MOST_WRONG:
                return Admission.CLOSED
            if self._clock() < self._waits_until.get(address, 0.0):
                return Admission.TOO_SOON
            if is_equal(_plain(word), _plain(self.word)):
                return Admission.OPEN
            self._wrong[address] = self._wrong.get(address, 0) + 1
            if self._wrong[address] >= FREE:
                self._waits_until[address] = self._clock() + PAUSE_S
            return Admission.WRONG


def teacher_cookie(port: int) -> str:
    """Return the name of the cookie with the teacher's key. Locust's page, at another port of the same machine, gets it too."""
    return f"lab_teacher_{port}"


def as_teacher(port: int, key: str) -> dict[str, str]:
    """Return the header with which the lab itself uses Locust's page."""
    return {"Cookie": f"{teacher_cookie(port)}={key}"}


def is_equal(first: str, second: str) -> bool:
    """Compare two secrets in a time that does not depend on them."""
    return hmac.compare_digest(first.encode(), second.encode())


def is_teacher(request: Request, port: int, key: str) -> bool:
    """Return whether a request comes from the teacher."""
    return is_equal(request.cookies.get(teacher_cookie(port), ""), key)


def stay_teacher(response: Response, port: int, key: str) -> None:
    """Let a cookie, which no script of a page can read, stand for the teacher's key from now on."""
    response.set_cookie(teacher_cookie(port), key, httponly=True, samesite="Lax")


def _plain(word: str) -> str:
    return "".join(one for one in word.casefold() if one.isalnum())
