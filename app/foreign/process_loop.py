"""One event loop for all requests of a process, as a service with asyncio has it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

MOST_WORKS = 256  # at the same time: a lock that lets all requests in is to be seen


class ProcessLoop:
    """An event loop in a thread of its own. It begins with the first request."""

    def __init__(self) -> None:
        self._starting = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, request: Coroutine[Any, Any, Any]) -> Any:
        """Run a request as a task of the loop, and return what it returns."""
        with self._starting:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(ThreadPoolExecutor(MOST_WORKS))
                threading.Thread(target=self._loop.run_forever, daemon=True).start()
        return asyncio.run_coroutine_threadsafe(request, self._loop).result()
