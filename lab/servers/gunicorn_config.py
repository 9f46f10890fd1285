"""The options of gunicorn that have no flag: a replica's worker process ends with its master, however the master ended."""

from __future__ import annotations


def post_fork(server: object, worker: object) -> None:  # noqa: ARG001 - as gunicorn calls it
    """Let the kernel kill the worker process, which this is, when its master ends."""
    from lab.interrupts import end_with_parent  # here: when gunicorn reads this file, it does not yet know the project's folder

    end_with_parent()
