"""The command `parameters`: every value of a plan's configuration, and who set it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.parameters import PLAN, Names, UsageError, read_plan


@ndbplan.command()
@PLAN
@click.option(
    "--set-by",
    "set_by",
    metavar="WHO,...",
    type=Names(),
    help="Only what program, import, hand or default set; without it all but defaults.",
)
@json_option
def parameters(plan_file: Path, set_by: tuple[str, ...] | None, *, as_json: bool) -> None:
    """List the configuration parameters of a plan with who set each: program, import, or hand.

    What the program set names its rule and follows the hardware; `set` with the same value pins it.
    """
    from ndbplan.describe.parameters import SETTERS, parameter_rows

    for who in set_by or ():
        if who not in SETTERS:
            raise UsageError(
                f"'{who[:60]}' sets nothing", where="--set-by", fix=f"use one of {', '.join(SETTERS)}"
            )
    rows = [row.to_json() for row in parameter_rows(read_plan(plan_file), set_by or SETTERS[:3])]
    show({"parameters": rows}, as_json=as_json, text=_lines(rows))


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    from ndbplan.describe.tables import table

    if not rows:
        yield "no such parameter is set"
        return
    yield from table([{key: value for key, value in row.items() if key != "why"} for row in rows])
    reasons = dict.fromkeys((row["name"], row["why"]) for row in rows if row["why"])
    if reasons:
        yield ""
    yield from (f"{name}: {why}" for name, why in reasons)
