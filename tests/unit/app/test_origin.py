"""A replica refuses requests that a browser sends for a page of another site."""

from app.settings import LOOPBACK, Settings
from app.web import create_app, foreign
from lab.containers.agent import EVERYWHERE
from lab.servers.programs.gunicorn import Gunicorn
from tests.every import every


@every(
    "host, origin, words",
    [
        ("evil.example", None, "the Host must be one of 127.0.0.1, localhost, [::1], and this is 'evil.example'; LAB_HOSTS"),
        ("evil.example:8000", "http://evil.example:8000", "the Host must be"),
        ("127.0.0.1.evil.example", None, "the Host must be"),
        ("localhost.", None, "the Host must be"),
        ("127.0.0.1:8000", "https://evil.example", "its Origin is 'https://evil.example'"),
        ("127.0.0.1:8000", "http://127.0.0.1.evil.example", "its Origin is"),
        ("127.0.0.1:8000", "http://127.0.0.1@evil.example", "its Origin is"),
        ("127.0.0.1:8000", "null", "its Origin is 'null'"),
        ("127.0.0.1:8000", "", "its Origin is ''"),
        ("127.0.0.1:8000", "http://[", "its Origin is"),
    ],
)
def test_foreign_names_are_refused(host, origin, words):
    """A foreign Host or Origin is refused, with the names that are accepted."""
    assert words in foreign(host, origin, LOOPBACK)


def test_names_that_a_user_adds():
    """A user adds names with LAB_HOSTS. In a container, where another address is listened on, a replica accepts any.

    Where any name is accepted, a page must still come from the name that it asks for.
    """
    here, container = Gunicorn("r"), Gunicorn("r", listen=EVERYWHERE)
    assert [Settings.read(one.env(0)).hosts for one in (here, container)] == [LOOPBACK, ()]
    assert Settings.read(Gunicorn("r", {"hosts": "lab.example"}, listen=EVERYWHERE).env(0)).hosts == ("lab.example",)
    assert [foreign("lab_nginx:8080", origin, ()) for origin in (None, "http://lab_nginx:9000")] == ["", ""]
    assert "Origin" in foreign("lab_nginx:8080", "http://evil.example", ())
    assert Settings.read({"LAB_HOSTS": "Lab.example, localhost"}).hosts == ("lab.example", "localhost")
    assert Settings.read({"LAB_HOSTS": "any"}).hosts == ()
    assert (
        create_app(stage="none", hosts="lab.example").test_client().get("/health", headers={"Host": "lab.example"}).status_code
        == 200
    )
