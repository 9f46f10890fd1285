"""Test the output of a run: its numbers add up, and its verdict comes before the pictures."""

import contextlib
import io
import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest
from rich.console import Console

from lab import pipeline
from lab.commands import run as command
from lab.evidence.loss import Mechanism
from lab.evidence.run_folder import RunFolder, save
from lab.judge.findings import Findings
from lab.judge.losses import Account, Losses, net_losses
from lab.judge.verdict import weigh
from lab.language import Language
from lab.pipeline import Conducted
from lab.report.terminal import summarise, terminal
from lab.story import say
from lab.story.verdict import promise
from tests.builders import Made, findings_of_ten, record_of_ten
from tests.every import every


def losses(gross: Mapping[str, tuple[int, int]]) -> dict[str, Losses]:
    return {name: Losses(destroyed=destroyed, restored=restored) for name, (destroyed, restored) in gross.items()}


@every(
    "lost, gross, net",
    [
        (0, {}, {}),
        (0, {"a": (5, 5)}, {}),
        (4355, {"a": (2800, 650), "b": (3276, 1071)}, {"b": 2205, "a": 2150}),
        (3, {"a": (2, 0)}, {"a": 2, Mechanism.WRITE_UNCONFIRMED: 1}),
        (6, {"a": (8, 0), "b": (1, 3)}, {"a": 6}),  # b restored two of the increments that a destroyed
        (2, {"a": (4, 0), "b": (2, 0), "c": (0, 4)}, {"b": 2}),
    ],
)
def test_net_losses(lost, gross, net):
    """The shares of the mechanisms add up to the increments that are lost in the end."""
    assert net_losses(lost, losses(gross)) == net


def test_net_losses_add_up():
    """In all cases of up to three mechanisms, each share is above zero, and their sum is the number of lost increments."""
    gross = [each for number in range(4) for each in product(product(range(3), repeat=2), repeat=number)]
    for lost, each in product((1, 2, 5), gross):
        shares = net_losses(lost, losses(dict(zip("abc", each, strict=False))))

        assert sum(shares.values()) == lost, each
        assert all(share > 0 for share in shares.values()), each


def printed(found: Findings, width: int | None = None, **about) -> str:
    """Return the output on a terminal of this width, or into a pipe."""
    out = io.StringIO()
    console = terminal(file=out) if width is None else Console(file=out, width=width, force_terminal=True, no_color=True)
    summarise(console, weigh(record_of_ten(**about), found), found)
    return out.getvalue()


def number(text: str, words: str) -> int:
    line = next(line for line in text.splitlines() if words in line)
    return int(line.split()[0])


def test_numbers_add_up():
    """The increments in the counter and the lost ones add up to all writes, and each cause is named."""
    found = findings_of_ten(account=Account(13, 9, 9, 1), duplicated=2)
    found.losses = losses({Mechanism.NO_LOCK: (9, 3), Mechanism.PROCESS_LOCAL: (2, 0)})
    found.outcomes["unknown"] = 1

    text = printed(found, claims=[], final=4)

    causes = (Mechanism.PROCESS_LOCAL, Mechanism.NO_LOCK, Mechanism.WRITE_UNCONFIRMED)
    assert number(text, "in the counter") == 4
    assert sum(number(text, f"gone: {say.mechanism(one)}") for one in causes) == 9


@pytest.mark.parametrize("language", Language)
def test_broken_names_its_promise(monkeypatch, language):
    """BROKEN names the broken promise in words, even if the scenario tests another promise."""
    monkeypatch.setenv("LC_ALL", f"{language}_XX.UTF-8")
    found, record = findings_of_ten({Mechanism.GRANTED_TWICE: 3}), record_of_ten(["exclusive"])
    record.scenario["tests"] = "survives_a_freeze"
    out = io.StringIO()

    summarise(terminal(file=out), weigh(record, found), found)

    text = out.getvalue()
    assert text.split()[0] == "BROKEN"
    assert "3" in text.splitlines()[2]  # the number of lost increments; the next line has the reason
    assert say.claim("exclusive", "breaks", language) in text.splitlines()[3].lower()
    assert promise("exclusive", language) in next(line for line in text.splitlines() if line.startswith("✗"))
    assert "exclusive" not in text  # the name of the claim


@pytest.mark.parametrize(("key", "words"), [("lock", True), ("", False)])
def test_waits_for_a_lock_only(tmp_path, key, words):
    """If the grants name no key, because the stage has no lock, no wait for a lock is printed."""
    made = (
        Made(tmp_path).increment("a", read=0, overwrote=0, key=key).increment("b", read=1, overwrote=1, at=(4, 5, 6, 7), key=key)
    )
    found = made.analyse(final=2)

    assert ("Wait for the lock" in printed(found, requests=2)) is words


@pytest.fixture
def done(tmp_path, monkeypatch):
    """Return a judged run whose pictures are not drawn yet."""
    monkeypatch.chdir(tmp_path)
    folder = RunFolder.create("rush", "lua")
    about = record_of_ten(["exclusive"])
    judgement = weigh(about, findings_of_ten())
    save(folder.path / "verdict.json", judgement)
    return Conducted(folder, about, judgement, findings_of_ten())


@pytest.mark.parametrize("as_json", [False, True])
def test_verdict_before_pictures(done, monkeypatch, capsys, as_json):
    """The verdict is on the terminal, or its JSON in the pipe, before the servers are ended and before anything is drawn."""
    at_the_end, before = [], []

    @contextlib.contextmanager
    def supervised() -> Iterator[None]:
        yield
        at_the_end.append(capsys.readouterr().out)

    def finish(_done: Conducted, _draw: bool) -> Path:
        before.append(capsys.readouterr().out)
        return Path("report.html")

    monkeypatch.setattr(pipeline, "by_locust", lambda *_: None)
    monkeypatch.setattr(pipeline, "conduct", lambda *_: done)
    monkeypatch.setattr(pipeline, "supervised", supervised)
    monkeypatch.setattr(pipeline, "finish", finish)
    monkeypatch.setattr(command, "one_supervisor", lambda: contextlib.nullcontext(SimpleNamespace(prepare=lambda *_: None)))

    assert command.run_one("rush", "lua", {}, as_json, "lab run rush") == 0

    after = capsys.readouterr().out
    assert json.loads(at_the_end[0])["verdict"] == "KEPT" if as_json else "\nKEPT  kept its promise\n" in at_the_end[0]
    assert before == [""]
    assert after.split() == ([] if as_json else ["Look", "at", "report.html"])


def test_interrupted_drawing(done, monkeypatch):
    """A run that is interrupted while it is drawn keeps its verdict and gets its name."""

    def report_run(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("lab.report.run_page.report_run", report_run)

    with pytest.raises(KeyboardInterrupt):
        pipeline.finish(done)

    assert (Path("reports/runs/latest") / "verdict.json").exists()
    with pytest.raises(KeyboardInterrupt):  # drawing again raises no other error, although the run has its name
        pipeline.finish(done)
