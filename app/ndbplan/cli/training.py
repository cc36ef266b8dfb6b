"""The command `train`: a live cluster with its consoles, at a terminal or from a transcript."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ndbplan.cli.group import json_option, ndbplan, show, simulating
from ndbplan.cli.parameters import PLAN, Duration, Times, UsageError, Whole, named_workload, read_plan

if TYPE_CHECKING:
    from ndbplan.train.live import LiveCluster

LONGEST_S = 86400.0


@ndbplan.command()
@PLAN
@click.option(
    "--workload",
    metavar="NAME",
    help="What clients send; without it the plan's first workload, or nothing in a plan without one.",
)
@click.option(
    "--for", "duration_s", type=Duration(), default="2h", show_default=True, metavar="TIME",
    help="How long the session is, a day at most.",
)  # fmt: skip
@click.option("--seed", type=Whole(0, 2**31 - 1), default=1, show_default=True)
@click.option(
    "--speed", type=Times(or_none=True), default=1.0, show_default=True,
    help="How quickly time passes at a terminal; 0: only with '! wait'.",
)  # fmt: skip
@click.option(
    "--record", "record_file", type=click.Path(path_type=Path), metavar="FILE",
    help="Write what is typed at a terminal as a transcript.",
)  # fmt: skip
@json_option
def train(
    plan_file: Path,
    workload: str | None,
    duration_s: float,
    seed: int,
    speed: float,
    record_file: Path | None,
    *,
    as_json: bool,
) -> None:
    """A live cluster with consoles: ndb_mgm>, mysql>, the shells of hosts, and what befalls it.

    At a terminal it asks for lines. Else it reads a transcript from standard input, one line each, and writes
    each line with its answer: 'ndb_mgm> SHOW', 'host1$ iostat -kx', '! wait 30s', '! kill node:3'. mysql2> to
    mysql9> are more sessions of the mysql client. The same transcript gives the same bytes.
    """
    if duration_s > LONGEST_S:
        raise UsageError("a session is a day at most", where="--for", fix="type for example 2h")
    cluster = _begun(read_plan(plan_file), workload, duration_s, seed)
    if as_json:
        _as_json(cluster, seed)
        return
    if sys.stdin.isatty():
        _at_terminal(cluster, speed, record_file)
        return
    if record_file is not None:
        raise UsageError(
            "there is no terminal to record", where="--record", fix="the input is a transcript itself"
        )
    from ndbplan.train.consoles import transcript

    for text in transcript(sys.stdin, cluster):
        click.echo(text, nl=False)


def _as_json(cluster: LiveCluster, seed: int) -> None:
    from ndbplan.train.consoles import answered

    lines = [one._asdict() for one in answered(sys.stdin, cluster)]
    show({"seed": seed, "at_s": cluster.now_s, "lines": lines}, as_json=True)


def _begun(plan: object, workload: str | None, duration_s: float, seed: int) -> LiveCluster:
    from ndbplan.plan.plan import Plan
    from ndbplan.train.live import LiveCluster

    assert isinstance(plan, Plan)
    chosen = named_workload(plan, workload)
    with simulating():
        return LiveCluster.begin(plan, chosen, hours=duration_s / 3600.0, seed=seed)


def _at_terminal(cluster: LiveCluster, speed: float, record_file: Path | None) -> None:
    from ndbplan.train.terminal import Terminal

    if record_file is None:
        Terminal(cluster, speed).run()
        return
    try:
        with record_file.open("w", encoding="utf-8") as record:
            Terminal(cluster, speed, record).run()
    except OSError as error:
        raise UsageError(
            f"cannot be written ({error.strerror})", where=str(record_file), fix="name another file"
        ) from None
