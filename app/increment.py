"""Do the work that every lock protects: read the number, think, write the number plus one.

With a stock, the number counts sold items: the work writes only if an item is left.
Reading and writing are two commands on purpose: the lab shows the events between them. The write is one command that
also returns the value it overwrote. So each write knows how many increments it destroyed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic_ns

from app.failpoints import ACQUIRE, READ, RELEASE, THINK, WRITE, WRITE_AGAIN
from app.journal import FENCES, AnyEvent, GaveUp, Got, Journal, Refusal, Released, SoldOut, Writing, Wrote, WroteAgain, WroteLate
from app.lock import Abandoned, Grant, Lock, NotAcquired, NotOwner, Refused
from app.request.context import RequestContext, begin, end, working
from app.resource import Resource, Write

NOTHING_WRITTEN = Write(value=0, overwrote=0)


@dataclass
class Increment:
    """One request: acquires the lock, does the work under it, and journals each step when it happens."""

    request: str
    resource: Resource
    journal: Journal
    work_ms: int  # how long the work takes
    receipts: Resource | None = None  # the resource of the second write; None for work of one write
    stock: int | None = None  # how many items there are, if the number counts sold items; None for a number that only grows

    read: int | None = None  # the number that was read; None if reading and writing are one command
    written: Write = NOTHING_WRITTEN  # the result of the last write
    receipt: Write = NOTHING_WRITTEN  # the result of the second write, if the work has two
    turn: int = 0  # how often the work was started: a stage may do it more than once
    ended: str = "ok"  # how the last turn of the work ended
    broke: BaseException | None = None  # the error with which the work ended last
    asked_ns: int = 0
    got_ns: int = 0
    writing_ns: int = 0
    releasing_ns: int = 0
    failed_in: str = ""  # the phase in which the request failed
    work_failed_in: str = ""  # the phase in which its work failed
    is_over: bool = False  # whether it has its answer: work may continue after that, in another thread
    context: RequestContext = field(default_factory=RequestContext)  # this request's own: the thread may work for another one

    def run(self, make: Callable[[], Lock]) -> Write:
        """Serve the request under a new lock from ``make``, and return the result of its write.

        Raises the errors of the lock, the resource and their clients. If NotOwner comes after the work, it only goes into the
        journal, and the request succeeds.
        """
        self.asked_ns = monotonic_ns()
        self.context = begin(self.request)
        try:
            write = self.run_lock(make)
            if write.pending:
                self.wrote(write)
            if self.receipt.pending:
                self.wrote_again(self.receipt)
            self.released("ok")
        except NotOwner as error:
            if not self.turn:  # the lock was lost before the work began
                self.failed(error)
                raise
            self.released("not_owner")
            write = self.written
        except Exception as error:
            self.failed(error)
            raise
        except (SystemExit, KeyboardInterrupt) as error:  # the stage raised it: no signal reaches the thread of a request
            self.failed(error)
            raise RuntimeError(f"the stage raised {type(error).__name__}") from error
        finally:
            self.is_over = True
            end()
        return write

    def run_lock(self, make: Callable[[], Lock]) -> Write:
        """Do the work under the lock. If the work fails and then the release fails too, raise the error of the work."""
        try:
            return make().run(self.work)
        except Exception as error:
            first: BaseException | None = error
            while first is not None and first is not self.broke:
                first = first.__context__
            if first is None or first is error:
                raise
            raise first from error

    def work(self, grant: Grant) -> Write:
        """Run the critical section once, completely between the stamps ``got_ns`` and ``releasing_ns``."""
        _check(grant)
        context, sent = self.context, self.context.sent
        context.granted(grant.key)
        if self.turn:
            self.released(self.ended)
            context.outer_releasing_ns = 0  # it belongs to the turn before
        self.turn += 1
        self.got_ns = monotonic_ns()
        self.releasing_ns = 0
        self.ended, self.work_failed_in = "ok", ""
        self.record(
            Got,
            key=grant.key,
            asked_ns=self.asked_ns,
            got_ns=self.got_ns,
            fence=grant.fence,
            commands=sent.commands,
            sent_ns=sent.at_ns,
            leased_ns=sent.leased_ns(grant.key),
            told_no=sent.told_no,
            unheard=sent.unheard,
            session=sent.session,
            outer_key=context.outer_key,
            outer_got_ns=context.outer_got_ns,
        )
        try:
            with working(context):
                self.written = self.critical_section(grant)
                self.releasing_ns = monotonic_ns()
                context.enter(RELEASE)
                return self.written
        except BaseException as error:  # the lock may release before it passes the error on
            self.broke = error
            self.work_failed_in = context.fail_work()
            self.releasing_ns = self.releasing_ns or monotonic_ns()
            raise

    def critical_section(self, grant: Grant) -> Write:
        """Read, think, check the lock, and write; journal each step. Raises Abandoned and Refused.

        With a stock: read, and write only if an item is left.
        """
        self.context.enter(READ)
        reading_ns = monotonic_ns()
        self.read = self.resource.read(grant)
        read_ns = monotonic_ns()
        if self.read is not None and self.stock is not None and self.read >= self.stock:
            self.sold_out()
            return Write(value=self.read, overwrote=self.read, sold_out=True)
        self.context.enter(THINK)
        if self.work_ms:
            time.sleep(self.work_ms / 1000)
        if not grant.still_mine():
            raise Abandoned(grant.key)
        value = None if self.read is None else self.read + 1
        self.record(Writing, reading_ns=reading_ns, read_ns=read_ns, read=self.read, value=value)
        self.context.enter(WRITE)
        self.writing_ns = monotonic_ns()
        self.written = write = self.write(self.resource, value, grant)
        if write.sold_out:
            self.sold_out()
            return write
        if write.repeated:
            self.record(Refusal, refused_ns=monotonic_ns(), why=f"this request wrote {write.value} before")
            return write
        if not write.pending:
            self.wrote(write)
        if self.receipts is not None:
            self.context.enter(WRITE_AGAIN)
            self.receipt = self.write(self.receipts, write.value, grant)
            if not self.receipt.pending:
                self.wrote_again(self.receipt)
        return write

    def sold_out(self) -> None:
        """Journal that nothing is left to sell. This is an answer, and no error: the lock is released as usual."""
        self.record(SoldOut, sold_out_ns=monotonic_ns())

    def write(self, resource: Resource, value: int | None, grant: Grant) -> Write:
        """Write to the resource; journal a refusal. Raises Refused."""
        try:
            return resource.write(value, grant)
        except Refused as refusal:
            self.releasing_ns = monotonic_ns()
            self.ended = "refused"
            self.record(Refusal, refused_ns=self.releasing_ns, why=str(refusal))
            raise

    def wrote(self, write: Write) -> None:
        """Journal a write that the resource has confirmed, once no rollback can undo it."""
        values = {"value": write.value, "overwrote": write.overwrote, "part": write.part}
        self.record(WroteLate if self.is_over else Wrote, writing_ns=self.writing_ns, wrote_ns=monotonic_ns(), **values)

    def wrote_again(self, write: Write) -> None:
        """Journal the second write, once no rollback can undo it."""
        self.record(WroteAgain, wrote_ns=monotonic_ns(), value=write.value, overwrote=write.overwrote)

    def released(self, result: str) -> None:
        """Journal the end of the grant: the release, or the attempt to release."""
        sent = self.context.sent
        command, answer = sent.of_key or sent.last
        self.record(
            Released,
            releasing_ns=self.releasing_ns,
            released_ns=monotonic_ns(),
            result=result,
            commands=sent.commands,
            command=command,
            answer=str(answer),
            outer_releasing_ns=self.context.outer_releasing_ns,
        )

    def failed(self, error: BaseException) -> None:
        """Journal an error. In the acquire, the request gave up; in the work or after it, the grant ends."""
        why = str(error) if isinstance(error, NotAcquired) else f"{type(error).__name__}: {error}"
        self.failed_in = self.work_failed_in or self.context.phase
        if self.failed_in is ACQUIRE:
            self.turn += 1
            keys = {"wanted": error.key, "holding": error.holding} if isinstance(error, NotAcquired) else {}
            self.record(
                GaveUp, asked_ns=self.asked_ns, gave_up_ns=monotonic_ns(), why=why, commands=self.context.sent.commands, **keys
            )
        else:
            self.releasing_ns = self.releasing_ns or monotonic_ns()
            self.released(f"error: {why}")

    def record(self, event: type[AnyEvent], **fields: object) -> None:
        """Journal one event of this request. Without a journal, do nothing.

        Once the request has its answer, only a late write is journaled: its grant has ended.
        """
        if self.journal.on and (not self.is_over or event is WroteLate):
            self.journal.record(event(request=self.request, turn=self.turn, **fields))  # type: ignore[arg-type] # checked when it is read back


def _check(grant: Grant) -> None:
    """Raise TypeError if a field of a grant has a wrong type or is too large: the journal could not be read again."""
    are_texts = isinstance(grant.key, str) and isinstance(grant.owner, str)
    if not (are_texts and type(grant.fence) is int and 0 <= grant.fence < FENCES):
        raise TypeError(f"key and owner must be texts, and fence a whole number from 0 to 63 bits, in {grant!r}")
