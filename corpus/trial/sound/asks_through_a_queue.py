"""Sound: one thread of the process sends all commands; requests give it theirs by a queue, and get the answers by another."""

import queue
import threading
from dataclasses import replace

from app.locks import lua

ORDERS = queue.Queue()
STARTING = threading.Lock()
STARTED = []


def serve():
    while True:
        command, answers = ORDERS.get()
        try:
            answers.put((command(), None))
        except Exception as error:  # noqa: BLE001 - the request raises it
            answers.put((None, error))


def ask(command):
    with STARTING:
        if not STARTED:
            STARTED.append(threading.Thread(target=serve, daemon=True))
            STARTED[0].start()
    answers = queue.Queue()
    ORDERS.put((command, answers))
    answer, error = answers.get()
    if error:
        raise error
    return answer


class Asking:
    """The store, as far as the stage lua needs it, with its SET sent by the thread."""

    def __init__(self, store):
        self.store = store

    def set(self, *args, **options):
        return ask(lambda: self.store.set(*args, **options))

    def register_script(self, text):
        script = self.store.register_script(text)
        return lambda keys, args: ask(lambda: script(keys, args))


class Lock(lua.Lock):
    def __init__(self, store, *args):
        super().__init__(Asking(store), *args)


STAGE = replace(lua.STAGE, lock=Lock)
