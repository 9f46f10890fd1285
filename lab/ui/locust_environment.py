"""The environment variables by which the lab configures the Locust process of ``lab ui``.

They have a module of their own because both sides need them: importing the plugin would patch the whole process, and
importing the lab's side would slow down each start of Locust.
"""

CONTROL = "LOCK_LAB_CONTROL"  # the path of the control socket
LIVE = "LOCK_LAB_LIVE"  # the port of the live page
KEY = "LOCK_LAB_KEY"  # the teacher's key, which Locust's page asks for; empty where it needs none

BUSY = "a run is under way: wait for its verdict, or press Stop"  # Locust's refusal of a second run
UNDER_WAY = "a run is under way: wait for its verdict"  # the refusal of the lab's own page
