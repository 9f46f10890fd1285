"""Fixtures of the browser tests: pages that are made once for all test workers, and the live page with news made up by a test."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from lab.ui.joining import Invitation
from lab.ui.live_server import LiveServer
from lab.ui.live_state import LiveState
from tests.command import lab


@pytest.fixture(scope="session")
def made_once(tmp_path_factory, worker_id: str) -> Callable[[str, Callable[[Path], object]], Path]:
    """Return a function that fills a folder of a given name once for all test workers, and returns its path."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent

    def made(name: str, make: Callable[[Path], object]) -> Path:
        folder, done = shared / name, shared / f"{name}.done"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)  # a worker that failed may have left a part
                folder.mkdir()
                make(folder)
                done.touch()
        return folder

    return made


STAGES = ("none", "incr", "setnx", "uuid", "lua")  # among their levels are each kind of level and each fault


@pytest.fixture(
    scope="session", params=[pytest.param(STAGES, id="some"), pytest.param((), id="all levels", marks=pytest.mark.trial)]
)
def levels(request: pytest.FixtureRequest, made_once: Callable[..., Path]) -> Path:
    """Return the folder with the pages of some levels, or of all levels with `make trial`."""

    def make(folder: Path) -> None:
        # in a process of its own: a supervisor in this process would end the browser together with its servers
        done = lab("play", *request.param, "--out", str(folder), cwd=folder.parent, timeout_s=600)
        assert (done.status, done.err) == (0, "")  # otherwise a level was left out

    return made_once(f"levels-{len(request.param)}", make)


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    """Return a folder of reports without a run, with stand-ins for the two pages that the live page links to."""
    for name in ("play", "reference/matrix"):
        (tmp_path / name).mkdir(parents=True)
        (tmp_path / name / "index.html").write_text(
            "<html lang=en><title>a page</title><body><h1>a page</h1></body></html>", "utf-8"
        )
    return tmp_path


@pytest.fixture
def pages(browser: Any, reports: Path) -> Iterator[tuple[LiveState, Callable[..., Any]]]:
    """Yield the state of a live page, and a function that opens one more view of it in the browser."""
    state = LiveState()
    with closing(LiveServer(state, "127.0.0.1", 0, 8089, reports=reports)) as server:
        server.invitation = Invitation("192.0.2.7:8090", "http://192.0.2.7:8090/vote?k=s3cretkey123", "otter 4")

        def opened(path: str = "/", **how: Any) -> Any:
            page = browser.open(f"http://127.0.0.1:{server.port}{path}", **how)
            page.locator("main[data-state]").wait_for()
            return page

        yield state, opened
        state.close()
