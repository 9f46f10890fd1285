"""Run the shortest schedules that break claims again, from an empty server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from app.lock import Claim
from lab.explore.code.operation import LOCK, CommandSent
from lab.explore.decision import Decision, Explorer, Undecided
from lab.explore.questions import Question
from lab.explore.search.event import CRASH, STEP, short
from lab.explore.search.harm import Harm
from lab.explore.search.in_words import source_of
from lab.explore.search.replay import CANNOT, Differs, Walk
from lab.explore.search.search import Broken
from lab.explore.store.real_redis import MachineStalled
from lab.explore.story.scenes import staged
from lab.story.happening import Story


class Shortest(NamedTuple):
    """A shortest schedule that breaks a claim, run again from an empty server."""

    broken: Broken
    question: Question
    walk: Walk
    story: Story

    @property
    def claim(self) -> Claim:
        """Return the claim that it breaks."""
        return self.broken.finding.claim

    @property
    def code(self) -> str:
        """Return the code of the defect: why a holder had no right, why the lock stays locked, or else the harm."""
        finding, held = self.broken.finding, self.story.scenes[-1].lock
        if finding.harm is Harm.STUCK and held and not any(key.until_ms for key in held):
            return "work_failed" if finding.claim is Claim.freed_after_failure else "no_ttl"
        return finding.why or finding.harm

    @property
    def between(self) -> list[str]:
        """Return the last two lines of the lock that one client ran in turn, and between which another event happened.

        Only one line is returned if a fault hit its command, or if the client died after it and would have sent nothing else.
        """
        last: dict[int, tuple[int, CommandSent]] = {}
        pair: list[CommandSent] = []
        moves = self.walk.moves
        for number, move in enumerate(moves):
            client, command = move.event.client, move.command
            since, before = last.get(client, (number, None))
            if before is not None and move.event.kind is CRASH:
                pending = self.walk.world.node(move.before, client).pending[0]
                pair = [before, pending] if isinstance(pending, CommandSent) else [before]
            elif command is not None and command.server == LOCK and command.line:
                others = any(
                    each.event.client != client or each.event.kind is not STEP for each in self.walk.moves[since + 1 : number]
                )
                if move.event.kind is not STEP:  # its reply is lost, or it is sent twice
                    pair = [command]
                elif before is not None and others and (before.file, before.line) != (command.file, command.line):
                    pair = [before, command]
                last[client] = number, command
        return [
            f"{Path(command.file).name}:{command.line}: {source_of(command.file, command.line)}"
            for command in pair
            if command.line
        ]


def found_shortest(decision: Decision, explorer: Explorer, only: Claim | None = None) -> Iterator[Shortest]:
    """Run the shortest schedule of each broken claim again, the cheapest faults first, and yield it.

    If a schedule cannot run again, or does not break the claim again, the claim is withdrawn from its search: the next search
    that breaks it is tried.
    """
    for claim in [claim for claim in decision.broken() if only in (None, claim)]:
        while claim in (broken := decision.broken()):
            answer, shortest = broken[claim]
            question = answer.question
            try:
                story, walk = staged(explorer, question, shortest.events, question.horizon_ms, claim.name)
            except (*CANNOT, Differs) as error:
                why = Undecided.STALLED if isinstance(error, MachineStalled) else Undecided.DIFFERS
                answer.disbelieve(claim, why, str(error))
            else:
                if any(finding.claim is claim for move in walk.moves for finding in move.findings):
                    yield Shortest(shortest, question, walk, story)
                    break
                answer.disbelieve(claim, Undecided.DIFFERS, f"{short(shortest.events)} breaks nothing when it is run again")
