"""The command line of ``lab count``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lab.commands.options import Decimal, Whole, out_option


def _ramp(context: click.Context, option: click.Parameter, value: str) -> list[int]:
    return [USERS.convert(number, option, context) for number in value.split(",")]


USERS = Whole(1, 10_000)


@click.command()
@click.option("--post", metavar="URL", help="Address to which each request is sent by POST.")
@click.option(
    "--locustfile",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Your own load instead of --post; it ends after --run-time.",
)
@click.option("--read", "--read-url", "read", required=True, metavar="URL", help="Address of the number: see docs/count.md.")
@click.option("--requests", type=Whole(1), default=2000, help="Number of requests of --post.  [default: 2000]")
@click.option("--run-time", metavar="TIME", help="How long a locustfile runs, such as 30s; each request gets its answer.")
@click.option(
    "--users",
    "--ramp",
    "ramp",
    callback=_ramp,
    default="50",
    help="Users at the same time; 1,10,50 counts once with each.  [default: 50]",
)
@click.option("--repeat", type=Whole(1, 1000), default=1, help="Number of rounds with each number of users.  [default: 1]")
@click.option("--down", is_flag=True, help="Each request lowers the number by one, as a stock that is sold.")
@click.option("--stock", type=Whole(0), help="Number of things to sell: more answers with yes are an error.")
@click.option("--acknowledged", default="", metavar="TEXT", help="An answer says yes only if its body has this text.")
@click.option("--name", default="", help="Of a locustfile, count only requests of this name.  [default: all but GET]")
@click.option("--header", type=(str, str), multiple=True, metavar="NAME VALUE", help="Header of each request. Can be repeated.")
@click.option("--data", default="", help="Body of each request.")
@click.option("--timeout-s", type=Decimal(0.1, 600), default=30.0, help="Seconds to wait for an answer.  [default: 30]")
@click.option("--allow-host", multiple=True, metavar="NAME", help="A host other than this machine. Can be repeated.")
@click.option("--junit", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="File for JUnit's XML.")
@out_option("the picture and the requests", "count-TIME")
def count(**given: Any) -> int:
    """Count at your own endpoint: was each acknowledged increment counted?

    The number is read, Locust sends exactly --requests requests, and the number is read again. The exit status is 0 if the sum
    agrees, 1 if increments were lost, counted twice or oversold, and 3 if requests without an answer leave it open.
    """
    from lab.count import count as counting

    return counting.count(given)
