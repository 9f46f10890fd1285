"""Run searches in their own processes, one for each core and at most ``MOST_WORKERS``, and end them when their time is over.

A budget counts the processor time of each process, so other programs do not shorten a search until five times as much time has
passed. A process is killed if it takes longer, or if its code does not return: a stage may wait for something that the explorer
has no model of. The decision keeps all claims that the process had broken.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from app.lock import Claim, Stage
from lab.explore.code.replica import running, steps
from lab.explore.decision import Decision, Explorer, SearchOutcome, Undecided
from lab.explore.model import TimeLimit
from lab.explore.questions import Question
from lab.explore.search.search import Broken, Searched
from lab.explore.store.real_redis import RealRedis
from lab.interrupts import signals_held, unless_interrupted
from lab.run.environment import Processors
from lab.servers.forked import forked
from lab.servers.server import Server

MOST_WORKERS = 2
SHARE, SHARE_OF_OTHERS = 4, 10  # a needed search gets at most a quarter of the time that is left, another search a tenth
LEAST_S = 1.0  # the least time of each search
GRACE_S = 1.0  # for a search to end by itself when its time is over
MOST_KILLED = 2  # processes of one stage: after that, no more of its searches begin
STUCK_S = 2.0  # in the code of the stage without a command or a wait; waiting for a processor does not count
BEAT_S = 0.2

Done = Callable[[int, SearchOutcome], None]


@dataclass
class _Worker:
    """A process that answers questions."""

    process: Any
    pipe: Connection
    server: Server
    # the number of its question, -1 if it has none; and the processor time for the question
    number: int = -1
    within_s: float = 0.0
    # when the question ends at the latest, on the monotonic clock
    until_s: float = 0.0
    # the claims that the question has broken so far
    broken: dict[Claim, Broken] = field(default_factory=dict)

    def end(self) -> None:
        """End the process, and with it the question."""
        self.number = -1
        self.process.kill()
        self.process.join()
        self.pipe.close()


def decide(
    decision: Decision, servers: Sequence[Server], budget_s: float, on_answer: Done = lambda number, answer: None
) -> Decision:
    """Search each question until the time is over, and fill the decision as the answers come. Return the decision.

    servers: a Redis for each process. budget_s: of processor time, for each process. on_answer: is called with each answer. After
    an interrupt, the decision has all answers so far.
    """
    began_s, processors = time.monotonic(), Processors(os.getpid())
    pool = _Pool(decision, servers, budget_s, on_answer)
    try:
        with signals_held() as signals:  # an interrupt that is raised inside a finalizer would be lost
            pool.run()
            signals.release()
    except BaseException:
        for answer in decision.answers:
            answer.undecided = Undecided.INTERRUPTED if answer.undecided is Undecided.TIME else answer.undecided
        raise
    finally:
        for answer in decision.answers:
            answer.detail = f"{processors.used()[1]}" if answer.undecided is Undecided.STARVED else answer.detail
        pool.close()
        decision.answers = [answer for answer in decision.answers if not answer.is_moot]
        decision.seconds = time.monotonic() - began_s
    return decision


class _Pool:
    def __init__(self, decision: Decision, servers: Sequence[Server], left_s: float, on_answer: Done) -> None:
        self.decision, self.on_answer = decision, on_answer
        self.left_s = left_s  # seconds of processor time for each process
        self.end_s = time.monotonic() + left_s  # after this moment, only needed questions begin
        self.todo = list(range(len(decision.answers)))
        self.again: list[int] = []  # the needed questions that took too long: they get the time that is left
        self.killed = 0
        self.servers, self.workers = servers[: len(self.todo)], list[_Worker]()

    def _start(self, server: Server) -> _Worker:
        process, pipe = forked(_work, self.decision.stage, self.decision.servers, (server.host, server.port))
        return _Worker(process, pipe, server)

    def run(self) -> None:
        """Hand out questions until all are answered, or the time is over."""
        for server in self.servers:
            self.workers.append(self._start(server))
            self._give(self.workers[-1])
        while any(worker.number >= 0 for worker in self.workers) and not unless_interrupted():
            busy = [worker for worker in self.workers if worker.number >= 0]
            for pipe in wait([worker.pipe for worker in busy], BEAT_S):
                self._hear(next(worker for worker in busy if worker.pipe is pipe))
            for worker in busy:
                if worker.number >= 0 and not worker.pipe.poll():
                    self._end_late(worker)

    def _give(self, worker: _Worker) -> None:
        share = 0
        if time.monotonic() > self.end_s:
            self.todo = [number for number in self.todo if self._question(number).needed]
        if not self.todo:
            self.todo, self.again, share = self.again, [], 1
        if not self.todo or self.left_s < GRACE_S / 2 or self.killed >= MOST_KILLED:
            worker.number = -1
            return
        worker.number = min(self.todo, key=self._rank)
        self.todo.remove(worker.number)
        worker.broken = {}
        share = share or (SHARE if self._question(worker.number).needed else SHARE_OF_OTHERS)
        worker.within_s = min(self.left_s, max(LEAST_S, self.left_s / share))
        worker.until_s = time.monotonic() + worker.within_s * TimeLimit.PASSES
        worker.pipe.send((self._question(worker.number), worker.within_s))

    def _rank(self, number: int) -> tuple[bool, bool]:
        """Return the rank of a question: questions that only test claims already broken come last."""
        decides = self.decision.claims & {*self._question(number).tests(self.decision.servers)} - self.decision.broken().keys()
        return not decides, not self._question(number).needed

    def _question(self, number: int) -> Question:
        return self.decision.answers[number].question

    def _unfinished(self, worker: _Worker, why: Undecided, detail: str) -> SearchOutcome:
        """Return an answer for a question that did not end, with the claims that it has broken so far."""
        return SearchOutcome(
            self._question(worker.number), Searched(broken=worker.broken) if worker.broken else None, why, detail
        )

    def _hear(self, worker: _Worker) -> None:
        try:
            kind, content = worker.pipe.recv()
        except (EOFError, OSError):
            self._lost(worker, Undecided.CRASHED, "its process ended")
            return
        if kind == "broken":
            worker.broken[content.finding.claim] = content
        elif kind == "stuck":
            self._lost(worker, Undecided.STUCK, f"the code neither ends nor waits for anything that the explorer knows{content}")
        else:
            answer, spent_s, drawn, version = content
            self.left_s -= spent_s / len(self.workers)
            self.decision.drawn |= drawn
            self.decision.redis = version
            self._take(worker.number, answer)
            self._give(worker)

    def _take(self, number: int, answer: SearchOutcome) -> None:
        """Keep an answer. A needed question that took too long is asked once more."""
        self.decision.answers[number] = answer
        if answer.undecided in (Undecided.TIME, Undecided.STARVED) and answer.question.needed and number not in self.again:
            self.again.append(number)
        self.on_answer(number, answer)

    def _end_late(self, worker: _Worker) -> None:
        """End a process whose time is over: it did not get a processor to end its search by itself."""
        if time.monotonic() > worker.until_s + GRACE_S:
            self._lost(worker, Undecided.STARVED, "")

    def _lost(self, worker: _Worker, why: Undecided, detail: str) -> None:
        """End a process that is lost, keep the claims that it has broken, and start another in its place."""
        self.left_s -= worker.within_s / len(self.workers)
        self._take(worker.number, self._unfinished(worker, why, detail))
        worker.end()
        self.killed += why in (Undecided.CRASHED, Undecided.STUCK)
        self.workers[self.workers.index(worker)] = new = self._start(worker.server)
        self._give(new)

    def close(self) -> None:
        """End all processes. Searches in progress keep the claims that they have broken."""
        for worker in self.workers:
            if worker.number >= 0 and worker.broken:
                self.decision.answers[worker.number] = self._unfinished(worker, Undecided.INTERRUPTED, "")
            worker.end()


def _work(stage: Stage, servers: int, address: tuple[str, int], pipe: Connection) -> None:
    """Answer questions in a process of its own, until the pipe ends."""
    signal.signal(signal.SIGALRM, _Watch(pipe))
    signal.setitimer(signal.ITIMER_REAL, BEAT_S, BEAT_S)
    real = RealRedis(*address)
    explorer = Explorer(stage, real, servers)
    with contextlib.suppress(EOFError, OSError):
        while True:
            question, within_s = pipe.recv()
            limit = TimeLimit(within_s)
            answer = explorer.answer(question, within_s, lambda broken: pipe.send(("broken", broken)))
            pipe.send(("answer", (answer, max(limit.spent_s), explorer.drawn, real.version)))
    os._exit(0)


class _Watch:
    """Ends the process if the code of its stage does not return, and reports the line that runs.

    A timer calls it. While the process waits for a processor, the signals of the timer count only once.
    """

    def __init__(self, pipe: Connection) -> None:
        self.pipe, self.last, self.beats = pipe, -1, 0

    def __call__(self, *_: object) -> None:
        self.beats = self.beats + 1 if steps[0] == self.last else 0
        self.last = steps[0]
        if self.beats * BEAT_S > STUCK_S and (here := running()) is not None:
            file, line = here.line()
            self.pipe.send(("stuck", f" at {Path(file).name}:{line}" if file else ""))
            os._exit(1)
