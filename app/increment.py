"""The work that every lock protects: read the number, think, write it back plus one.

With a stock, the number counts sold items: the work writes only if an item is left.
Reading and writing are two commands on purpose: the lab is about what happens between them. The write is one command that
also returns the value it overwrote. So each write knows how many increments it destroyed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns

from app.failpoints import ACQUIRE, READ, RELEASE, THINK, WRITE, WRITE_AGAIN
from app.journal import FENCES, AnyEvent, GaveUp, Got, Journal, Refusal, Released, SoldOut, Writing, Wrote, WroteAgain, WroteLate
from app.lock import Abandoned, Grant, Lock, NotAcquired, NotOwner, Refused
from app.request.context import RequestContext, begin, end, working
from app.resource import Resource, Write


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request did, with the names of the HTTP answer."""

    # the number that the request read
    read: int
    # the number that it wrote
    wrote: int
    # from asking for the lock to the grant
    waited_ms: float
    # from the grant to the release
    held_ms: float
    # whether nothing was left to sell: then nothing was written
    sold_out: bool = False


class Increment:
    """One request: acquires the lock, does the work under it, and journals each step when it happens."""

    def __init__(
        self,
        request: str,
        resource: Resource,
        journal: Journal,
        work_ms: int,
        receipts: Resource | None = None,
        stock: int | None = None,
    ) -> None:
        """Take the parts of one request. ``receipts`` is where the work writes a second time; None for work of one write.

        stock: how many items there are, where the number counts sold items; None for a number that only grows.
        """
        self.request = request
        self.resource = resource
        self.receipts = receipts
        self.stock = stock
        self.journal = journal
        self.work_s = work_ms / 1000
        self.read: int | None = None  # the number that was read; None if reading and writing are one command
        self.written = Write(value=0, overwrote=0)  # what the last write did
        self.receipt = Write(value=0, overwrote=0)  # what the second write did, if the work has two
        self.turn = 0  # how often the work was started: a stage may do it more than once
        self.ended = "ok"  # how the last turn of the work ended
        self.broke: BaseException | None = None  # the error with which the work ended last
        self.asked_ns = self.got_ns = self.writing_ns = self.releasing_ns = 0
        self.failed_in = ""  # the phase in which the request failed
        self.work_failed_in = ""  # the phase in which its work did
        self.is_over = False  # whether it has its answer: work may continue after that, in another thread
        self.context = RequestContext()  # of this request: the thread may work for another one

    def run(self, make: Callable[[], Lock]) -> Answer:
        """Serve the request under a lock that is made for it. Raises what the lock, the resource or their clients raise.

        NotOwner after the work only goes into the journal.
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
            if not self.turn:  # it found no lock before it had done anything
                self.failed(error)
                raise
            self.released("not_owner")
            write = self.written
        except Exception as error:
            self.failed(error)
            raise
        except (SystemExit, KeyboardInterrupt) as error:  # of the stage: no signal reaches the thread of a request
            self.failed(error)
            raise RuntimeError(f"the stage raised {type(error).__name__}") from error
        finally:
            self.is_over = True
            end()
        return Answer(
            read=write.overwrote if self.read is None else self.read,
            wrote=write.value,
            waited_ms=(self.got_ns - self.asked_ns) / 1e6,
            held_ms=(self.releasing_ns - self.got_ns) / 1e6,
            sold_out=write.sold_out,
        )

    def run_lock(self, make: Callable[[], Lock]) -> Write:
        """Do the work under the lock. A release that fails after the work did does not hide the error of the work."""
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
        """Run the critical section once. All of it is between the stamps got and releasing."""
        _check(grant)
        context, sent = self.context, self.context.sent
        context.granted(grant.key)
        if self.turn:
            self.released(self.ended)
            context.outer_releasing_ns = 0  # of the turn before
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

        With a stock: read, decide whether an item is left, and write only then.
        """
        self.context.enter(READ)
        reading_ns = monotonic_ns()
        self.read = self.resource.read(grant)
        read_ns = monotonic_ns()
        if self.read is not None and self.stock is not None and self.read >= self.stock:
            self.sold_out(reading_ns)
            return Write(value=self.read, overwrote=self.read, sold_out=True)
        self.context.enter(THINK)
        if self.work_s:
            time.sleep(self.work_s)
        if not grant.still_mine():
            raise Abandoned(grant.key)
        value = None if self.read is None else self.read + 1
        self.record(Writing, reading_ns=reading_ns, read_ns=read_ns, read=self.read, value=value)
        self.context.enter(WRITE)
        self.writing_ns = monotonic_ns()
        self.written = write = self.write(self.resource, value, grant)
        if write.sold_out:
            self.sold_out(reading_ns)
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

    def sold_out(self, reading_ns: int) -> None:
        """Journal that nothing is left to sell. It is an answer, and no error: the lock is released as ever."""
        self.record(SoldOut, reading_ns=reading_ns, sold_out_ns=monotonic_ns(), read=self.read)

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
        """Journal a write that the resource has confirmed, and that nothing can undo any more."""
        values = {"value": write.value, "overwrote": write.overwrote, "part": write.part}
        self.record(WroteLate if self.is_over else Wrote, writing_ns=self.writing_ns, wrote_ns=monotonic_ns(), **values)

    def wrote_again(self, write: Write) -> None:
        """Journal the second write, when nothing can undo it any more."""
        self.record(WroteAgain, wrote_ns=monotonic_ns(), value=write.value, overwrote=write.overwrote)

    def released(self, result: str) -> None:
        """Journal the end of the grant: the release, or the attempt of one."""
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
        """Journal an error: before the work there was no grant; in the work or after it the grant ends."""
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
        """Journal one event of this request. Without a journal the event is not even made.

        Once the request has its answer, only a write is journaled: its grant has ended.
        """
        if self.journal.on and (not self.is_over or event is WroteLate):
            self.journal.record(event(request=self.request, turn=self.turn, **fields))  # type: ignore[arg-type] # checked when it is read back


def _check(grant: Grant) -> None:
    """Raise TypeError for a grant with a field of another type, or too large: the journal could not be read again."""
    are_texts = isinstance(grant.key, str) and isinstance(grant.owner, str)
    if not (are_texts and type(grant.fence) is int and 0 <= grant.fence < FENCES):
        raise TypeError(f"key and owner must be texts, and fence a whole number from 0 to 63 bits, in {grant!r}")
