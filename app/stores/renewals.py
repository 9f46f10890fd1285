"""What is sent to the lock's store outside any request: by a renewing thread, above all. Each such command is journaled."""

from __future__ import annotations

from time import monotonic_ns

from app.failpoints import RENEW
from app.journal import Journal, Renewed
from app.request.current import begun_by, here


def record(
    journal: Journal,
    command: str,
    answer: object,
    key: str = "",
    *,
    prolonged: bool = False,
    script: bool = False,
    sent_ns: int = 0,
    server: int = 0,
    begun: str | None = None,
) -> None:
    """Journal the command that this thread sent last, or at ``sent_ns``, if it belongs to no request.

    prolonged: whether it can have prolonged a lease. script: whether it ran a script.
    server: the port of the one server that it was sent to. begun: the request that began its thread, if another thread has
    the answer.
    """
    context = here()
    if context.phase is RENEW and journal.on:
        sent_ns, now_ns = sent_ns or context.sent_ns, monotonic_ns()
        journal.record(
            Renewed(
                request="",
                key=key,
                command=command,
                answer=str(answer),
                prolonged=prolonged,
                script=script,
                begun_by=begun_by() if begun is None else begun,
                sent_ns=sent_ns,
                server=server,
                renewed_ns=now_ns,
            )
        )
