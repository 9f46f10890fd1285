"""Test the order in which the counter executed its reads and writes, from a recorded run and from simulated counters."""

import csv
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import pairwise
from pathlib import Path
from random import Random

from lab.report.timeline_order import Command, Order
from lab.story.timeline import NEVER
from tests.every import every

RECORDED = Path(__file__).with_name("none_rush.csv")


def recorded() -> list[Command]:
    """Return the reads and writes of 2000 requests of ``none`` under ``rush``, as a run recorded them."""
    commands, sent = [], 0
    with RECORDED.open(encoding="utf-8") as file:
        for line in csv.DictReader(file):
            sent += int(line["sent_ns"])
            commands.append(Command(sent, sent + int(line["took_ns"]), int(line["found"]), int(line["left"])))
    return commands


def simulated(requests: int, threads: int, late: float, seed: int) -> list[Command]:
    """Return the commands of threads without a lock; ``late`` of the answers are stamped up to 100 ms late."""
    random = Random(seed)

    def delay() -> int:
        return int(random.expovariate(1 / 200_000)) + (random.randint(0, 100_000_000) if random.random() < late else 0)

    turns: list[tuple[int, int, bool, int, int]] = []
    for thread in range(threads):
        heappush(turns, (random.randint(1, 1_000_000), thread, False, 0, 0))
    commands: list[Command] = []
    value = begun = 0
    while turns:
        at, thread, writes, sent, read = heappop(turns)
        answered = at + delay()
        commands.append(Command(sent, answered, value, read + 1 if writes else value))
        value = commands[-1].left
        begun += not writes
        if writes and begun >= requests:
            continue
        heappush(turns, (answered + 1 + delay(), thread, not writes, answered + 1, value))
    return commands


def contradictions(commands: Sequence[Command], order: Order, start: int = 0) -> int:
    """Return how many commands found another number than the counter has at their moments."""
    value, wrong = start, 0
    for place in sorted((place for place, at in enumerate(order.at) if at != NEVER), key=lambda place: order.at[place]):
        wrong += commands[place].found != value
        value = commands[place].left
    return wrong


def check(commands: Sequence[Command]) -> None:
    order = Order(commands, 0)

    assert NEVER not in order.at
    assert contradictions(commands, order) == 0
    assert all(command.sent <= at <= command.answered for command, at in zip(commands, order.at, strict=True))
    assert all(order.at[one] < order.at[other] for one, other in pairwise(order.places))


def test_recorded_run_has_an_order():
    """In a recorded run of 2000 requests no neighbouring writes contradict each other, and each read has a moment that fits."""
    commands = recorded()
    by_answer = sorted((command for command in commands if command.found != command.left), key=lambda one: one.answered)

    assert sum(one.left != other.found for one, other in pairwise(by_answer)) > 500  # by their answers they do contradict
    check(commands)


@every("threads, late", [(3, 0.0), (12, 0.02), (32, 0.0), (32, 0.2)])
def test_simulated_counter_has_an_order(threads, late):
    check(simulated(1500, threads, late, seed=threads))


def test_missing_write():
    """The order continues after a number that no write left, and a read of a number that never occurs has no moment."""
    commands = [Command(0, 10, 0, 1), Command(20, 30, 7, 8), Command(40, 50, 3, 3)]

    order = Order(commands, 0)

    assert order.at[2] == NEVER
    assert order.places == [0, 1]
