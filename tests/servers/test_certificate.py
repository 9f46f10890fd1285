"""The certificate of ``lab explore``: a program of its own checks it, and refuses each that was forged."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from lab.errors import ExitStatus
from lab.explore import certificate, check_certificate
from lab.explore.decision import Decision, Explorer
from lab.explore.questions import by_default
from lab.explore.search.event import NONE, Budget
from lab.explore.search.search import search
from lab.scenario.stages import find_stage
from tests.command import warm
from tests.sampled import sampled
from tests.servers.explored import question

BROKEN = Path(__file__).parent / "locks" / "broken"
MOST_S = 60.0
Lines = list[Any]


@pytest.fixture(scope="module")
def made(real, tmp_path_factory):
    """Return a function that decides some searches of a stage, and returns the lines of the certificate."""

    def lines(name, questions, lies=False):
        path = tmp_path_factory.mktemp("certificate") / "made.jsonl"
        stage = find_stage(str(name))
        decision = Decision(stage, 3000, list(questions), redis=real.version)
        with closing(Explorer(stage, real)) as explorer:
            decision.answers = [explorer.answer(one, monotonic() + MOST_S) for one in questions]
        if lies:
            for answer in decision.answers:
                answer.found.broken.clear()
        list(certificate.write(decision, real, path))
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]

    return lines


@pytest.fixture(scope="module")
def right(made) -> Lines:
    """The certificate of lua with one pause."""
    return made("lua", [question(Budget(pauses=1))])


@pytest.fixture
def check(tmp_path, redis_port):
    """Return a function that checks a certificate, as a sceptic does: nothing of the lab can be imported."""
    program = shutil.copy(check_certificate.__file__, tmp_path)

    def checked(lines, port=redis_port):
        path = tmp_path / "certificate.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        command = [sys.executable, "-I", "-S", program, path, *(["--port", str(port)] if port else [])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=MOST_S, check=False)
        assert not done.stderr
        return done.returncode, done.stdout

    return checked


@pytest.mark.parametrize("name", sampled(["uuid", "lua"], ["lua"]))
def test_right(name, made, check):
    """All searches that the promises need are in a certificate; the checker agrees with each line, on a server of its own."""
    lines = made(name, [one for one in by_default(find_stage(name), 3000) if one.needed and not one.task.ends])
    status, said = check(lines, port=None)

    assert lines[0][1]["stage"] == name
    assert said.endswith("The certificate is right.\n")
    assert status == 0
    assert "Promises that hold in all searches: exclusive_in_process, exclusive, " in said


@pytest.mark.trial
def test_fences_and_renewals(made, check):
    """A lock that renews in the background, re-enters and gives fences has a certificate."""
    questions = [question(Budget(pauses=1)), question(Budget(resends=1)), question(nested=True), question(in_turn=2)]
    status, said = check(made("fencing", questions))

    assert status == 0
    assert "holds: exclusive, counts_once, survives_a_freeze, survives_a_late_freeze" in said
    assert "each lock taken twice, until 7000 ms, no fault: 105 states" in said


def places(lines: Lines, what: str) -> list[int]:
    return [place for place, line in enumerate(lines) if line[0] == what]


def without_an_edge(lines):
    del lines[places(lines, "edge")[40]]
    lines[-1][2] -= 1


def without_a_state(lines):
    number = lines[places(lines, "edge")[40]][3]
    lines[:] = [line for line in lines if line[:2] not in (["state", number], ["edge", number])]
    lines[-1][1:] = len(places(lines, "state")), len(places(lines, "edge"))


def without_what_the_code_does(lines):
    del lines[places(lines, "code")[9]]


def another_reply(lines):
    place = next(one for one in places(lines, "edge") if lines[one][5] == "$-1\r\n")
    lines[place][5] = "+OK\r\n"


def another_command(lines):
    place = next(one for one in places(lines, "edge") if lines[one][4])
    lines[place][4] = ["PING"]


def another_end_of_an_edge(lines):
    lines[places(lines, "edge")[40]][3] = 0


def another_content(lines):
    place = next(one for one in places(lines, "content") if lines[one][2] and lines[one][2][0][0] == "L")
    lines[place][2][0][2] += "x"


def another_time_to_live(lines):
    place = next(one for one in places(lines, "content") if lines[one][2] and lines[one][2][0][0] == "L")
    lines[place][2][0][3] += 100


def another_clock(lines):
    place = next(one for one in places(lines, "state") if lines[one][6])
    lines[place][6] += 100


def another_mark(lines):
    place = next(one for one in places(lines, "state") if lines[one][9][0][0][0] == "works")
    lines[place][9][0][0][0] = "releases"


def fewer_faults(lines):
    lines[1][1]["faults"][0] = 0


def a_promise_more(lines):
    lines[0][1]["promises"].append("survives_a_freeze")


def a_break_less(lines):
    lines[1][1]["breaks"].remove("survives_a_freeze")


def an_end_too_early(lines):
    del lines[-1]


FORGED: dict[Callable[[Lines], None], str] = {
    without_an_edge: "not listed but possible is ",
    without_a_state: "it leads to a state that is not listed",
    without_what_the_code_does: "it does not say what the code does",
    another_reply: "is answered '$-1",
    another_command: "and listed is ['PING']",
    another_end_of_an_edge: "it leads to another state than the listed one",
    another_content: "it leads to another state than the listed one",
    another_time_to_live: "it leads to another state than the listed one",
    another_clock: "state",
    another_mark: "it leads to another state than the listed one: marks",
    fewer_faults: "state 0 is not the start",
    a_promise_more: "no search of it shows that: survives_a_freeze",
    a_break_less: "and the counter goes up by 0 instead of 1; that breaks survives_a_freeze",
    an_end_too_early: "it ends too early",
}


@pytest.mark.parametrize("forge", FORGED, ids=lambda one: one.__name__)
def test_forged(forge, right, check):
    """A certificate in which anything was changed is refused, with the place and the reason."""
    lines = json.loads(json.dumps(right))
    forge(lines)

    status, said = check(lines)

    assert status == 1
    assert "REFUSED: " in said
    assert FORGED[forge] in said.rpartition("REFUSED: ")[2]


LIES = {
    "deletes_without_compare": (Budget(pauses=1), "deletes the key of request"),
    "looks_and_then_sets": (NONE, "gets the lock while request 0 is in its work; that breaks exclusive"),
    "gives_no_ttl": (Budget(crashes=1), "nobody has worked for"),
}


@pytest.mark.parametrize("name", LIES)
def test_lies(name, made, check):
    """The graph of a broken lock is no certificate, whatever it states; nor is it one when the harmful state is changed."""
    budget, harm = LIES[name]
    lines = made(BROKEN / f"{name}.py", [question(budget)], lies=True)
    status, said = check(lines)
    assert status == 1
    assert harm in said

    number = int(said.rpartition("REFUSED: state ")[2].partition(":")[0])
    state = next(lines[place] for place in places(lines, "state") if lines[place][1] == number)
    state[9][0] = [["over", *actor[1:]] for actor in state[9][0]]
    status, said = check(lines)
    assert status == 1
    assert harm not in said


def test_states_of_the_search(real, made):
    """A certificate has each state of the search without reductions: as many, where the marks do not count."""
    asked = question(Budget(pauses=1))
    lines = made("uuid", [asked])
    with closing(Explorer(find_stage("uuid"), real)) as explorer:
        world = explorer.world(asked.task, asked.replicas)
        graph = search(world, asked.budget, asked.horizon_ms, monotonic() + MOST_S).graph
        states = {graph.state(number)._replace(ghosts=None) for number in range(len(graph))}

    assert len({json.dumps(lines[place][2:9]) for place in places(lines, "state")}) == len(states)


def test_no_certificate(real, made):
    """What waits in the server, or answers with what only the machine decides, has no certificate: the reason is named."""
    with pytest.raises(certificate.NoCertificate, match="waits in the server"):
        made(BROKEN.parent / "sound" / "token_in_a_list.py", [question()])
    with pytest.raises(certificate.NoCertificate, match="what a key has left to live"):
        made(BROKEN.parent / "sound" / "answers_like_redisson.py", [question()])


def test_command(tmp_path):
    """``lab explore --certificate`` writes one where all promises hold, and none where one breaks: the status is 1 then."""
    path = tmp_path / "certificate.jsonl"
    options = ("--clients", "2", "--pauses", "0", "--no-confirm", "--certificate", path)

    done = warm("explore", BROKEN / "looks_and_then_sets.py", *options, cwd=tmp_path)
    assert (done.status, path.exists()) == (ExitStatus.BROKEN, False)
    assert "No certificate is written: looks_and_then_sets breaks exclusive" in done.out

    done = warm("explore", "pubsub", *options, cwd=tmp_path)
    assert (done.status, path.exists()) == (ExitStatus.NOTHING_SHOWN, False)

    done = warm("explore", "lua", *options, cwd=tmp_path)
    assert "1 searches, 33 states, 36 edges" in done.out
    assert f"Check it: python {check_certificate.__file__} {path}" in done.out


def test_own_database(right, check, redis_port):
    """The checker takes an empty database of a server, and leaves it empty."""
    redis = check_certificate.Redis(("127.0.0.1", redis_port), own=True)
    redis.send([("SET", "mine", "1")])
    try:
        assert check(right)[0] == 0
        assert redis.send([("GET", "mine"), ("SELECT", 1), ("DBSIZE",), ("SELECT", 0)])[0:3:2] == [
            (b"$1\r\n1\r\n", b"1"),
            (b":0\r\n", 0),
        ]
    finally:
        redis.close()
