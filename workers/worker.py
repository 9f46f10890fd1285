"""A worker of the lab in Python: the Python of the library's own environment runs it, so its versions never meet the lab's.

    /path/of/its/environment/bin/python worker.py LOCK.py [NAME=VALUE …]

LOCK.py defines ``lock(ports, **options)``, which is called once for a lane, with the ports of the store's servers. It returns
two functions: ``acquire(key, ttl_ms, wait_ms, retry_ms)`` returns what is held, or None if the lock was not granted in time;
``release(held)`` raises an error, or returns False, if the lock was lost. A lane is a thread.
"""

import queue
import runpy
import sys
import threading

speaking = threading.Lock()


def say(lane, words):
    with speaking:
        sys.__stdout__.write("%s %s\n" % (lane, words))
        sys.__stdout__.flush()


def error(problem):
    return "error " + ("%s: %s" % (type(problem).__name__, problem)).replace("\n", " ")[:200]


def acquired(acquire, words):
    held = acquire(words[0], *map(int, words[1:]))
    fence = getattr(held, "fence", None)
    return held, "no" if held is None or held is False else "yes" if fence is None else "yes %d" % fence


def is_cut_off(problem):
    """Return whether the store did not answer: then nobody knows whether the lock was lost."""
    return isinstance(problem, OSError) or any(word in type(problem).__name__ for word in ("Connection", "Timeout"))


def released(release, held):
    try:
        return "lost" if release(held) is False else "ok"
    except Exception as problem:
        return error(problem) if is_cut_off(problem) else "lost"


def serve(lane, ports, calls):
    held = None
    try:
        acquire, release = make(ports, **options)
    except Exception as problem:
        acquire = release = None
        failure = error(problem)
    while True:
        verb, words = calls.get()
        if verb == "drop":
            return
        try:
            if acquire is None:
                answer = failure
            elif verb == "acquire":
                held, answer = acquired(acquire, words)
            else:
                answer = released(release, held)
        except Exception as problem:
            answer = error(problem)
        say(lane, answer)


def main():
    lanes = {}
    for line in iter(sys.stdin.readline, ""):
        first, second, *rest = line.split()
        if first == "lane":
            lanes[second] = queue.Queue()
            thread = threading.Thread(target=serve, args=(second, [int(port) for port in rest], lanes[second]))
            thread.daemon = True
            thread.start()
        elif first == "drop":
            lanes.pop(second).put(("drop", []))
        else:
            lanes[first].put((second, rest))


file, *words = sys.argv[1:]
options = dict(word.split("=", 1) for word in words)
sys.stdout = sys.stderr  # what a library prints is no answer
make = runpy.run_path(file)["lock"]
main()
