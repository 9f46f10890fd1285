"""Collect writes: what they add up to, which requests wrote more than once, and which work was done only by half."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import asdict

from app.journal import Refusal, WroteAgain
from lab.judge.concurrency import BIN_NS
from lab.judge.examples import EXAMPLES, HalfDone, Repeated
from lab.judge.findings import Findings
from lab.judge.grant import Grant
from lab.judge.ledger import Ledgers
from lab.judge.written_values import WrittenValues


class Writes:
    """Report each event of a write, and each release. The results are in the findings.

    ``values_by_bin`` needs the order of time. All other results need none.
    """

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.ledgers = Ledgers(findings.run.start)
        self.written = WrittenValues()  # by which replica each request wrote, and what
        self.unconfirmed: list[Grant] = []  # released, with an error in place of the answer to their write
        self.parts: dict[str, int] = {}  # the last value of each part of the counter
        self.total = 0  # the sum of those
        self.values_by_bin: dict[int, int] = {}  # the last value of the whole counter in each bin of time

    def wrote(self, grant: Grant) -> None:
        if grant.wrote is None or grant.overwrote is None:
            return
        self.ledgers.write(grant.part, grant.wrote, grant.overwrote)
        self.total += grant.wrote - self.parts.get(grant.part, 0)
        self.parts[grant.part] = grant.wrote
        self.values_by_bin[grant.wrote_ns // BIN_NS] = self.total
        if self.written.add(grant.replica, grant.request, grant.wrote):
            self.findings.duplicated += 1

    def wrote_again(self, grant: Grant, event: WroteAgain) -> None:
        if event.overwrote >= event.value:
            self._half_done(grant, f"its receipt {event.value} was written over {event.overwrote}")

    def refused(self, grant: Grant | None, event: Refusal) -> None:
        self.findings.measures["refused"] += 1
        if grant is not None and grant.wrote is not None:
            self._half_done(grant, event.why)

    def released(self, grant: Grant) -> None:
        if grant.wrote is None and grant.unconfirmed:
            self.unconfirmed.append(grant)
        elif grant.sold_out:
            self.written.add_sold_out(grant.replica, grant.request)

    def close(self, still_open: Iterable[Grant]) -> None:
        """Compare the writes with the counter in the end: all journals have been read."""
        if self.findings.duplicated:
            self.findings.repeated = [Repeated(request, times) for request, times in self.written.most(EXAMPLES)]
        grants = (*self.unconfirmed, *still_open)
        intended = [grant.value for grant in grants if grant.unconfirmed]
        self.findings.account = self.ledgers.close(self.findings.run.final, intended)

    def _half_done(self, grant: Grant, how: str) -> None:
        self.findings.measures["half_done"] += 1
        if len(self.findings.half_done) < EXAMPLES:
            self.findings.half_done.append(HalfDone(**asdict(grant.facts()), how=how))
