"""The command `hardware`: hosts and disks of the user's own, kept for the palette and for `add`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.parameters import UsageError, read_other_plan


@ndbplan.command()
@click.option(
    "--keep",
    "kept",
    metavar="PLAN ADDRESS NAME",
    nargs=3,
    help="Keep a host or disk of a plan under a name, such as my.ndbplan 'hosts[a1]' 'our blades'.",
)
@click.option("--forget", metavar="NAME", help="Keep it no longer.")
@click.option(
    "--take-in", type=click.Path(path_type=Path), metavar="FILE", help="Keep what a file holds too."
)
@click.option("--write", type=click.Path(path_type=Path), metavar="FILE", help="Write all to a file.")
@json_option
def hardware(
    kept: tuple[str, str, str] | None,
    forget: str | None,
    take_in: Path | None,
    write: Path | None,
    *,
    as_json: bool,
) -> None:
    """List the hosts and disks that you keep, after keeping, forgetting or taking in some.

    `add PLAN host class=NAME` and `add PLAN disk class=NAME` make them.
    """
    from ndbplan.edits import own_hardware as own

    try:
        if kept:
            _keep(*kept)
        if forget is not None:
            _forget(forget)
        if take_in is not None:
            own.take_in(take_in)
        if write is not None:
            own.write_out(write)
        # What cannot be read is nothing for a palette, and an error here.
        own_kinds = own.kept()
    except UserError as error:
        raise UsageError(error.what, where=error.where or "hardware", fix=error.fix) from None
    rows = [{"kind": one.kind, "name": one.name} for one in own_kinds]
    show({"hardware": rows, "file": str(own.own_file())}, as_json=as_json, text=_lines(rows))


def _keep(plan_file: str, address: str, name: str) -> None:
    from ndbplan.edits import own_hardware as own
    from ndbplan.edits.address import resolve

    plan = read_other_plan(Path(plan_file))
    places = resolve(plan, address)
    own.keep(plan, getattr(places[0].value, "id", ""), name)


def _forget(name: str) -> None:
    from ndbplan.edits import own_hardware as own

    keys = [one.key for one in own.own_hardware() if one.name == name]
    if not keys:
        known = ", ".join(one.name for one in own.own_hardware()[:8]) or "there is none"
        raise UsageError(f"no hardware is kept as '{name[:60]}'", where="--forget", fix=f"name one: {known}")
    for key in keys:
        own.forget(key)


def _lines(rows: list[dict[str, Any]]) -> Iterator[str]:
    if not rows:
        yield "no hardware of your own is kept"
    for row in rows:
        yield f"{row['kind']:<6} {row['name']}"
