"""What the explorer knows of etcd and MariaDB without asking them."""

from types import SimpleNamespace

from lab.explore.store.real_etcd import _wrote, body_of, words_of
from lab.explore.store.real_mysql import NO_LIMIT_S, RealMariaDB, limit_s, statement_of
from lab.explore.store.real_mysql import words_of as statement_words
from tests.every import every

HEADER = {"header": {"revision": "7"}}
PUT, RANGE, DELETED = {"response_put": {}}, {"response_range": {}}, {"response_delete_range": {"deleted": "1"}}


@every(
    "name, answer, wrote",
    [
        (b"Put", HEADER, True),
        (b"Range", HEADER, False),
        (b"Put", {}, False),  # an error
        (b"DeleteRange", HEADER | {"deleted": "1"}, True),
        (b"DeleteRange", HEADER, False),
        (b"Txn", HEADER | {"responses": [RANGE, PUT]}, True),
        (b"Txn", HEADER | {"responses": [RANGE]}, False),
        (b"Txn", HEADER | {"responses": [DELETED]}, True),
    ],
)
def test_what_has_a_revision(name, answer, wrote):
    """A command has a revision of its own in etcd where it has written, also within a transaction."""
    assert _wrote(name, answer) is wrote


def test_request_as_words():
    """A request of etcd reads as words, with plain text in place of base64, and is the same request again."""
    body = {"key": "TC9h", "limit": "1", "sort": {"target": "MOD"}}
    words = words_of(b"Range", body)

    assert words == (b"Range", b"key=L/a", b"limit=1", b'sort={"target":"MOD"}')
    assert body_of(words) == {"key": "L/a", "limit": 1, "sort": {"target": "MOD"}}


def connection(template=None):
    waits = None if template is None else SimpleNamespace(template=template, values=("L", 3))
    return SimpleNamespace(waits=waits, number=5)


@every(
    "template, owner, has_it",
    [
        ("SELECT GET_LOCK(%s, %s)", 5, True),  # its thread wakes up late
        ("SELECT GET_LOCK(%s, %s)", 4, False),
        ("SELECT * FROM lock_table", 5, False),
        (None, 5, False),
    ],
)
def test_lock_by_name(template, owner, has_it):
    """A statement that seems to wait for a lock by name has it where the server says so."""
    real = SimpleNamespace(rows=lambda statement, name: ((owner,),) if name == "L" else ((None,),))

    assert RealMariaDB.has_named_lock(real, connection(template)) is has_it  # type: ignore[arg-type]


def test_statement_as_words():
    """A statement reads as words; on the server its names have a prefix, and its limit is the search's."""
    template = "SET STATEMENT max_statement_time = %s FOR SELECT * FROM lock_table WHERE lock_name = %s FOR UPDATE"
    words = statement_words(b"0.1", template, (1.5, "L"))

    assert words[:2] == (b"SELECT", b"0.1")
    assert statement_of(words, "p:").values == (NO_LIMIT_S, "p:L")
    assert statement_of(words, "p:").here == f"{template} (1.5, 'L')"
    assert limit_s(template, (1.5, "L")) == 1.5
    assert limit_s("SELECT 1", ()) is None
