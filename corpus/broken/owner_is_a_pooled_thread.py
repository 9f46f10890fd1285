"""Broken: the owner is a process and a thread, and a thread of a pool serves the next request when one has failed."""

from dataclasses import replace

from app.locks import reentrant, request_owner

STAGE = replace(request_owner.STAGE, lock=reentrant.Lock)
