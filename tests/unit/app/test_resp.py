"""Test how messages of the Redis protocol are read from the bytes that have arrived so far."""

import pytest
import redis

from app.foreign.wire.resp import NotRedis, command, message

SET = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$4\r\na\r\nb\r\n"  # a value with an end of line in it


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"+OK\r\n", "OK"),
        (b":12\r\n", 12),
        (b"$-1\r\n", None),
        (b"_\r\n", None),
        (b"*-1\r\n", None),
        (b"#t\r\n", True),
        (b",1.5\r\n", 1.5),
        (b"$4\r\na\r\nb\r\n", b"a\r\nb"),
        (b"*2\r\n:1\r\n*1\r\n+x\r\n", [1, ["x"]]),
        (b"%1\r\n+a\r\n:1\r\n", ["a", 1]),
        (b"|1\r\n+ttl\r\n:9\r\n:7\r\n", 7),
        (SET, [b"SET", b"k", b"a\r\nb"]),
    ],
)
def test_message_is_read_when_it_is_whole(data, value):
    """A message is read once all of it has arrived, wherever the bytes were cut, and whatever follows it."""
    assert message(data) == (value, len(data))
    assert message(data + b"+more\r\n") == (value, len(data))
    assert [message(data[:cut]) for cut in range(len(data))] == [None] * len(data)


def test_command_is_read_like_a_message():
    """The quicker reader of commands returns all words of a command, and nothing for a part of one."""
    quick = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n"

    assert command(quick) == ([b"GET", b"k"], len(quick))
    assert command(SET) == ([b"SET", b"k", b"a\r\nb"], len(SET))
    assert command(quick + SET, len(quick)) == ([b"SET", b"k", b"a\r\nb"], len(quick) + len(SET))
    assert command(quick[:-1]) is None


def test_errors_are_answers():
    """An error from Redis is an answer; bytes that are not of the Redis protocol raise NotRedis."""
    answer, _ = message(b"-ERR no\r\n") or (None, 0)

    assert isinstance(answer, redis.ResponseError)
    with pytest.raises(NotRedis):
        message(b"HTTP/1.1 400\r\n")
    with pytest.raises(NotRedis):
        message(b"$x\r\n")
    with pytest.raises(NotRedis):
        command(b"GET k\r\n")
