"""Define the environment of the Locust process and its refusals, for both sides of ``lab ui``: the lab and that process.

Importing Locust's plugin would patch the whole process, and importing the lab's side would slow down each start of Locust.
"""

from __future__ import annotations

from enum import StrEnum

# the environment variables by which the lab configures Locust
LIVE = "LOCK_LAB_LIVE"  # the address of the lab's own pages, as Locust reaches them
KEY = "LOCK_LAB_KEY"  # the teacher's key, which Locust's page asks for; empty if it needs none
ORDERS_KEY = "LOCK_LAB_ORDERS_KEY"  # the key with which Locust asks the lab

ORDERS = "/orders/"  # below it, the lab answers Locust
SENT_KEY = "X-Lab-Key"  # the header with that key


class Refusal(StrEnum):
    """The refusals of the pages, with their reasons; lab/story/words.toml has the Chinese."""

    BUSY = "a run is under way: wait for its verdict, or press Stop"
    FULL = "the lab takes no more devices that predict, until it is started anew"
    TEACHER_ONLY = "only the teacher's page can do this: the lab printed its address when it started"
    NOT_JOINED = "this device has not joined the class: scan the code on the wall, or type the word there"


LOOPBACK = ("127.0.0.1", "localhost")
