"""The HTTP side of a replica: three routes, with answers and errors as JSON.

``gunicorn --threads 32 'app.web:create_app(stage="lua")'`` starts one alone.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from functools import partial
from typing import Any
from uuid import uuid4

from flask import Flask, Response, request
from werkzeug.exceptions import BadRequest, HTTPException

from app import heartbeat, locks
from app.failpoints import ACQUIRE, READ, THINK, WRITE_AGAIN
from app.failpoints.injection import Failpoints, InjectedError
from app.increment import Increment
from app.journal import Journal
from app.lock import Abandoned, Lock, NotAcquired, Refused, Stage
from app.nested_lock import OUTER_PAUSE_MS, NestedLock
from app.origin import foreign
from app.request import steps
from app.request.context import RequestContext, follow
from app.resources import resource, stock_of_a_grant
from app.settings import ANY, Settings, SettingsError
from app.stores import lock_store
from app.stores.redis import Redis

REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")


class StageEndpoint:
    """One stage in one replica: the client of its lock, its counter, and how a request is served."""

    def __init__(self, stage: Stage, settings: Settings, journal: Journal) -> None:
        self.stage = stage
        self.settings = settings
        self.journal = journal
        self.ttl_ms = settings.ttl_ms or stage.ttl_ms or 0
        self.lock_key = f"lab:{settings.run}:{stage.name}:lock"
        self.store = lock_store(stage.store, settings, journal.on)
        self.resource = resource(stage, settings, self.store)
        self.receipts = resource(stage, settings, self.store, "receipt") if settings.receipts else None
        self.stock = stock_of_a_grant(stage, settings)
        self.errors: tuple[Any, ...] = (Redis.Error, self.store.Error) if self.store else (Redis.Error,)
        self.workers = None
        self.make: Callable[..., Lock]
        if stage.worker:
            from app.foreign.wire.worker import FAILURES, WorkerLock, Workers

            self.workers = Workers(stage, self.store)
            self.make, self.errors = partial(WorkerLock, self.workers), (*self.errors, *FAILURES)
        elif stage.by_lane:
            from app.foreign.wire.own_client import ClientFailed, LaneLock

            self.make = partial(LaneLock, stage, settings, self.store)
            self.errors = (*self.errors, ClientFailed)
        else:
            self.make = partial(stage.lock, self.store)

    def lock(self, request_id: str) -> Lock:
        """Make the lock of one request. With ``nested`` in the settings: the same lock twice, or two locks."""
        if not self.settings.nested:
            return self._new(self.lock_key)
        if self.settings.nested == "crossed":
            keys = [f"{self.lock_key}:a", f"{self.lock_key}:b"]
            first, second = keys if sum(request_id.encode()) % 2 else keys[::-1]
            return NestedLock(self._new(first), self._new(second), pause_s=0.2)
        pause_ms = max(OUTER_PAUSE_MS, self.settings.work_ms)  # the holder works on: long work is long in both parts
        return NestedLock(self._new(self.lock_key), self._new(self.lock_key), outer_pause_s=pause_ms / 1000)

    def _new(self, key: str) -> Lock:
        lease = {"lease_ms": self.settings.lease_ms} if self.stage.lease else {}
        return self.make(key, self.ttl_ms, self.settings.wait_ms, self.settings.retry_ms, **lease)

    def increment(self, request_id: str) -> tuple[dict[str, Any], int]:
        """Return the answer and its status: failed (503, 409) if nothing was written, unknown (500) if the write is uncertain."""
        settings = self.settings
        answer = {"replica": settings.replica, "stage": self.stage.name, "request": request_id}
        increment = Increment(request_id, self.resource, self.journal, settings.work_ms, self.receipts, self.stock)
        try:
            write = increment.run(partial(self.lock, request_id))
        except NotAcquired as error:
            return answer | {"error": "not acquired", "reason": str(error)}, 503
        except Abandoned as error:
            return answer | {"error": "abandoned", "reason": str(error)}, 409
        except Refused as error:
            half = increment.failed_in is WRITE_AGAIN
            reason = f"half done: the second write was refused: {error}" if half else str(error)
            return answer | {"error": "refused", "reason": reason}, 500 if half else 409
        except InjectedError as error:
            return answer | {"error": "injected error", "reason": str(error)}, 500
        except self.errors as error:
            nothing_written = increment.failed_in in (ACQUIRE, READ, THINK) and increment.turn <= 1
            reason = f"in phase {increment.failed_in}: {type(error).__name__}: {error}"
            return answer | {"error": "store failed", "reason": reason}, 503 if nothing_written else 500
        waited_ns, held_ns = increment.got_ns - increment.asked_ns, increment.releasing_ns - increment.got_ns
        times = {"waited_ms": round(waited_ns / 1e6, 3), "held_ms": round(held_ns / 1e6, 3)}
        done = {"sold_out": True} if write.sold_out else {"value": write.value, "wrote": write.value}
        read = write.overwrote if increment.read is None else increment.read
        return answer | done | {"read": read} | times, 200


def create_app(**flags: Any) -> Flask:
    """Make the WSGI application of one replica. The flags are the fields of Settings. Raises SettingsError."""
    settings = Settings.read(**flags)
    journal = Journal(settings.journal)
    heartbeat.start(journal)
    follow()
    RequestContext.journal = journal
    if settings.faults is not None:
        RequestContext.failpoints = Failpoints(settings.faults, settings.replica)
    steps.begin(settings.steps, settings.replica)
    endpoint = StageEndpoint(_stage(settings.stage), settings, journal)
    in_flight: set[object] = set()  # one for each request that is being served: a set needs no mutex to take one in
    app = Flask("app")
    app.config["TRUSTED_HOSTS"] = None if settings.hosts == ANY else settings.hosts.lower().replace(" ", "").split(",")
    app.before_request(_refuse_foreign)

    @app.post("/increment")
    def increment() -> tuple[dict[str, Any], int]:
        in_flight.add(mine := object())
        try:
            return endpoint.increment(_request_id())
        finally:
            in_flight.remove(mine)

    @app.get("/value")
    def value() -> dict[str, Any]:
        return {"value": sum(endpoint.resource.parts().values()), "stage": endpoint.stage.name}

    @app.get("/health")
    def health() -> dict[str, Any]:
        replica = {"replica": settings.replica, "run": settings.run, "stage": endpoint.stage.name, "pid": os.getpid()}
        failure = endpoint.workers.failure if endpoint.workers else ""
        return replica | {"in_flight": len(in_flight), "worker": failure, "unwritten": journal.failure}

    @app.errorhandler(Exception)
    def as_json(error: Exception) -> tuple[dict[str, Any], int] | Response:
        if isinstance(error, HTTPException):
            return {"error": error.name.lower(), "reason": error.description}, error.code or 500
        app.logger.error("a request failed with an unexpected error", exc_info=error)
        return {"error": "internal error", "reason": f"{type(error).__name__}: {error}"}, 500

    return app


def _refuse_foreign() -> tuple[dict[str, Any], int] | None:
    reason = foreign(request)
    return ({"error": "forbidden", "reason": f"{reason}; LAB_HOSTS adds a name"}, 403) if reason else None


def _stage(name: str) -> Stage:
    try:
        return locks.stage(name)
    except KeyError as error:
        raise SettingsError(f"setting stage: no stage {error}; the stages are {', '.join(locks.names())}") from None
    except (ImportError, OSError) as error:
        raise SettingsError(f"setting stage: {error}") from None


def _request_id() -> str:
    text = request.headers.get("X-Request-ID")
    if text is None:
        return uuid4().hex
    if not REQUEST_ID.fullmatch(text):
        raise BadRequest("X-Request-ID must be 1 to 64 letters, digits or any of . _ : -")
    return text
