"""How often an outcome came in several rounds, with the interval of its rate.

The interval is Wilson's score interval for 95 % (E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical
Inference", Journal of the American Statistical Association 22, 1927). It has ends of its own where all rounds agree: five
of five may still be a rate of 57 %. ``lab/experiments/statistics.py`` has it by scipy, which only developers install.
"""

from __future__ import annotations

import math

Z = 1.959963984540054  # the 97.5 % quantile of the normal distribution


def wilson(seen: int, rounds: int) -> tuple[float, float]:
    """Return the ends of the interval of a rate, of which ``seen`` of at least one round were seen."""
    share, spread = seen / rounds, Z * Z / rounds
    middle = share + spread / 2
    width = Z * math.sqrt(share * (1 - share) / rounds + spread / (4 * rounds))
    low, high = (middle - width) / (1 + spread), (middle + width) / (1 + spread)
    return (0.0 if seen == 0 else low), (1.0 if seen == rounds else high)


def in_percent(seen: int, rounds: int) -> str:
    """Return the interval in words: ``57 to 100 %``."""
    low, high = wilson(seen, rounds)
    return f"{100 * low:.0f} to {100 * high:.0f} %"
