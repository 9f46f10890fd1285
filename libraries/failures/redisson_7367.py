"""Redisson: an acquire that is sent again after a lost reply counts twice.

**Idea** The script takes its own second arrival for a second acquire of the same thread.
"""

from app.foreign.library import ReportedFailure

FAILURE = ReportedFailure(
    report="redisson/redisson#7367",
    link="https://github.com/redisson/redisson/issues/7367",
    what="After a lost reply, one release leaves the lock held, and the watchdog renews it for ever. #3521 and #4698 "
    "are about the same watchdog.",
    package="redisson",
    version="3.52.0",
    language="Java",
    promises={},
    not_run="the registry of Redisson (Maven's) is not reached where the lab was made. The same happens to a stage of "
    "the lab: `.venv/bin/lab run lost_reply --stage watchdog`.",
)
