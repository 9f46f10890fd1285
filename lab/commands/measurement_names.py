"""The measurements of ``lab bench``, a line each, for --help: to import the measurements themselves would be slow."""

from __future__ import annotations

OF_THE_LAB = {
    "journals": "throughput with journals and failpoints, compared with none",
    "judging": "time and memory to judge a million increments",
    "explorer": "lab explore: its time and memory; compared with frontrun",
}
OF_THE_LOCKS = {
    "locks": "all stages without replicas; lua compared with redis-py's lock",
    "fences": "the price of a fence, and of a fence with an owner",
    "asking": "Redlock asked in turn, compared with all at once",
    "votes": "Redlock's random pause, compared with a fixed one",
    "syncs": "the price of Redis's syncs, and what they save",
    "waits": "each way of waiting, compared with another",
    "omission": "the waits that a closed loop hides while a holder is frozen",
}


def measurements() -> str:
    """Return the help text; click keeps the lines of a paragraph that begins with a backspace."""
    parts = (("Costs of the lab:", OF_THE_LAB), ("Costs of the locks:", OF_THE_LOCKS))
    return "\n\n".join(
        "\n".join(("\b", title, *(f"  {name:<10}{what}" for name, what in lines.items()))) for title, lines in parts
    )
