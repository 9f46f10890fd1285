"""The time that ``lab --help`` takes."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator

from lab.experiments.benchmark import Measured, Promise
from lab.experiments.statistics import mean
from lab.prerequisites import program


def measure(pairs: int) -> Iterator[Measured]:
    samples = [_once() for _ in range(pairs)]
    value, low, high = mean(samples)
    promise = Promise(at_most=0.3)
    yield Measured(name="help", what="lab --help", unit="s", value=value, low=low, high=high, promise=promise, samples=samples)


def _once() -> float:
    began_s = time.monotonic()
    subprocess.run([program("lab"), "--help"], stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - began_s
