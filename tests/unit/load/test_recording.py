"""Test the connections of a load: a user keeps its connection between two requests, however many users there are.

Locust replaces parts of the standard library when it is imported, so the test runs in a Python of its own.
"""

import subprocess
import sys

from lab.paths import HOME

MANY = """
import os
import resource

import gevent
import lab.load.recording
from gevent.server import StreamServer
from geventhttpclient import HTTPClient

accepted = []

def answer_twice(connection, _):
    accepted.append(connection)
    for _ in range(2):
        connection.recv(4096)
        connection.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n")

server = StreamServer(("127.0.0.1", 0), answer_twice)
server.start()
_, most = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
files = [os.dup(1) for _ in range(1024)]
user = HTTPClient("127.0.0.1", server.server_port)
for _ in range(4):
    user.post("/").read()
    gevent.sleep(0.05)  # the server closes the connection after its second answer
print(len(accepted))
"""


def test_user_beyond_a_thousand_keeps_its_connection():
    """With more than 1024 open files, a user sends its second request on the same connection, and none on a closed one."""
    done = subprocess.run([sys.executable, "-c", MANY], cwd=HOME, capture_output=True, text=True, timeout=60, check=False)

    assert done.stdout == "2\n", done.stderr
