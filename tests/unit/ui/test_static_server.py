"""Test ``lab serve``: the files that it serves, and the requests that it refuses."""

import http.client
import re
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lab.language import NAMES, Language
from lab.story import say
from lab.ui import static_server
from lab.ui.live_server import LiveServer
from lab.ui.live_state import LiveState
from lab.ui.static_server import Site
from tests.command import LAB
from tests.every import every

SECRET = "not for anybody"


@pytest.fixture
def reports(tmp_path) -> Path:
    folder = tmp_path / "reports"
    run = folder / "runs" / "a-run"
    run.mkdir(parents=True)
    (folder / "index.html").write_text("the site", encoding="utf-8")
    (run / "report.html").write_text("the run", encoding="utf-8")
    (folder / "runs" / "latest").symlink_to("a-run")
    (folder / "ladder").mkdir()
    (folder / "ladder" / "index.html").write_text("the ladder", encoding="utf-8")
    hidden = folder / "runs" / ".unfinished.part"
    hidden.mkdir()
    for path in (tmp_path / "secret.html", hidden / "report.html", folder / ".hidden.html"):
        path.write_text(SECRET, encoding="utf-8")
    (run / "out.html").symlink_to(tmp_path / "secret.html")
    (folder / "runs" / "outside").symlink_to(tmp_path)
    (folder / "runs" / "seen").symlink_to(".unfinished.part")
    (folder / "runs" / "circle").symlink_to("circle")
    return folder


@pytest.fixture
def ask(reports) -> Iterator[Callable[..., tuple[int, str]]]:
    """Yield a function that asks for a path as it is written, and returns the status and the text."""
    with closing(Site(reports, 0).start()) as server:

        def asked(path: str, method: str = "GET", host: str = "") -> tuple[int, str]:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
            connection.putrequest(method, path, skip_host=True)
            connection.putheader("Host", host or f"127.0.0.1:{server.port}")
            connection.endheaders()
            with connection.getresponse() as answer:
                text = answer.headers.get("Location") or answer.read().decode()
            connection.close()
            return answer.status, text

        yield asked


@every(
    "path, text",
    [
        ("/", "the site"),
        ("/index.html?x=1", "the site"),
        ("/runs/a-run/report.html", "the run"),
        ("/runs/latest/report.html", "the run"),
        ("/runs/%61-run/report.html", "the run"),
        ("/ladder/", "the ladder"),
    ],
)
def test_files_of_the_reports_are_served(ask, path, text):
    assert ask(path) == (200, text)


@every(
    "path",
    [
        "/../secret.html",
        "/runs/../../secret.html",
        "/%2e%2e/secret.html",
        "/..%2fsecret.html",
        "/runs/..%5c..%5csecret.html",
        "//secret.html",
        "/runs/a-run/out.html",
        "/runs/outside/secret.html",
        "/runs/.unfinished.part/report.html",
        "/runs/seen/report.html",
        "/runs/circle",
        "/.hidden.html",
        "/secret.html%00",
        "/runs/",
        "/runs/a-run/",
        "/nothing.html",
    ],
)
def test_nothing_else_is_served(ask, path):
    """No hidden file and no file outside the reports is served, and no folder is listed."""
    status, text = ask(path)

    assert status == 404
    assert "<main" in text
    assert SECRET not in text
    assert "a-run" not in text


@every("path, drawn", {"/runs/a-run": True, "/runs/.unfinished.part": False, "/runs/seen": False, "/../runs/b": False}.items())
def test_only_given_runs_are_drawn(ask, monkeypatch, path, drawn):
    """A missing page is drawn if its run is served: not of a hidden run, and not outside the folder."""
    asked: list[str] = []
    monkeypatch.setattr(static_server, "draw_if_missing", lambda path: asked.append(path.name))

    assert ask(f"{path}/report.zh.html")[0] == 404
    assert ("report.zh.html" in asked) is drawn


@every(
    "path, about, status",
    [
        ("/ladder", {}, 301),  # to the address at which its links work
        *(("/", {"host": host}, 403) for host in ("lab.example", "lab.example:80", "127.0.0.1.example:80")),
        *(("/index.html", {"method": method}, 405) for method in ("POST", "PUT", "DELETE")),
    ],
)
def test_other_requests(ask, path, about, status):
    """A folder is redirected; a request under another machine's name is refused, and so is a method that could change a file."""
    found = ask(path, **about)

    assert found[0] == status
    assert status != 301 or found[1] == "/ladder/"


@pytest.mark.whole
@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_end(tmp_path, word):
    with subprocess.Popen([LAB, "serve", "--port", "0"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as serving:
        address = serving.stdout.readline().split()[0].decode()
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
        connection.request("GET", "/")
        assert b"There are no runs yet" in connection.getresponse().read()
        connection.close()
        serving.send_signal(word)

        assert serving.wait(20) == 0
        assert b"Traceback" not in serving.stderr.read()


def test_served_pages_lead_to_each_other(reports):
    """A served page gets links to the main pages that exist; its file stays as it was."""
    run, play = reports / "runs" / "a-run" / "report.html", reports / "play" / "index.html"
    run.with_name("report.zh.html").write_text('<html lang="zh-CN"><body><main>a run</main>', encoding="utf-8")
    run.write_text("<body><main class='wide'>a run</main>", encoding="utf-8")
    play.parent.mkdir()
    play.write_text("levels", encoding="utf-8")
    with closing(LiveServer(LiveState(), "127.0.0.1", 0, 8089, "", reports)) as server:
        without = server.ways()
        matrix = reports / "reference" / "matrix" / "index.html"
        matrix.parent.mkdir(parents=True)
        matrix.write_text("the kept matrix", encoding="utf-8")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        connection.request("GET", "/runs/a-run/report.html")
        text = connection.getresponse().read().decode()
        connection.request("GET", "/runs/a-run/report.zh.html")
        chinese = connection.getresponse().read().decode()
        connection.close()
        server.state.close()

    for page in (text, chinese):
        navs = re.findall(r'<nav class="site ways" lang="([^"]+)" aria-label="([^"]+)">(.*)</nav>', page.partition("<main")[0])
        assert [tag for tag, _, _ in navs] == [names.tag for names in NAMES.values()]
        for language, (_, label, inside) in zip(Language, navs, strict=True):
            assert label == say.text("site_way", "ways", language)
            assert say.text("site_way", "runs", language) in inside
            links = re.findall(r'<a href="([^"]+)">', inside)
            assert links == ["/", "/index.html", "/reference/matrix/index.html", "/play/index.html"]
    assert without["matrix"] == "/index.html#matrix"
    assert run.read_text(encoding="utf-8") == "<body><main class='wide'>a run</main>"
