"""Test that a replica refuses requests that a browser sends for a page of another site."""

from app.settings import Settings
from app.web import create_app
from lab.containers.agent import EVERYWHERE
from lab.servers.programs.gunicorn import Gunicorn


def test_names_that_a_user_adds():
    """A replica accepts the names in LAB_HOSTS, and in a container any name; an Origin must be the host of the request."""

    def status(names: str, host: str, **more: str) -> int:
        client = create_app(stage="none", hosts=names).test_client()
        return client.post("/nothing", headers={"Host": host} | more).status_code

    usual = Settings.read({}).hosts
    here, container = Gunicorn("r"), Gunicorn("r", listen=EVERYWHERE)
    assert [Settings.read(one.env(0)).hosts for one in (here, container)] == [usual, "any"]
    assert Settings.read(Gunicorn("r", {"hosts": "lab.example"}, listen=EVERYWHERE).env(0)).hosts == "lab.example"
    assert [status("Lab.example, localhost", host) for host in ("lab.example", "evil.example")] == [404, 403]
    assert [status(usual, host) for host in ("127.0.0.1", "localhost", "localhost:8000", "localhost.")] == [404] * 3 + [403]
    assert [status("any", "lab.example", Origin=site) for site in ("http://lab.example", "http://evil.example")] == [404, 403]
