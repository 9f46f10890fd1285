"""Broken: work that is not done after 50 ms is started a second time, and the quicker of the two answers."""

import threading
from dataclasses import replace

from app.lock import Grant
from app.locks import lua


class Lock(lua.Lock):
    def run(self, work):
        self.acquire()
        results, started = [], []

        def attempt():
            try:
                results.append((work(Grant(self.key)), None))
            except Exception as error:  # noqa: BLE001 - the request raises it
                results.append((None, error))

        try:
            while len(started) < 2 and not results:
                started.append(threading.Thread(target=attempt))
                started[-1].start()
                started[-1].join(0.05)
            for one in started:
                one.join()
        finally:
            self.release()
        result, error = results[0]
        if error:
            raise error
        return result


STAGE = replace(lua.STAGE, lock=Lock)
