"""The commands of `ndbplan`. Each imports the engine it needs when it runs, so that help comes at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from ndbplan.cli.parameters import UsageError

F = TypeVar("F", bound=Callable[..., Any])

_PLAN_SUFFIX = ".ndbplan"


class _Commands(click.Group):
    """Commands by name; a plan file in place of one opens it in the window."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in self.commands and args[0].endswith(_PLAN_SUFFIX):
            args = ["open", *args]
        return super().resolve_command(ctx, args)


@click.group(
    cls=_Commands,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="ndbplan", prog_name="ndbplan")
@click.pass_context
def ndbplan(ctx: click.Context) -> None:
    """Plan MySQL NDB Cluster deployments: where data lands, what disks must take, how long operations last.

    Without a command: the window.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def json_option(function: F) -> F:
    """`--json`: the result for machines, in the shapes that `ndbplan schema` describes."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")(function)


def why_option(function: F) -> F:
    """`--why`: the derivation of every estimated number."""
    return click.option("--why", is_flag=True, help="Show what every estimated number is made of.")(function)


def show(
    shape: dict[str, Any], *, as_json: bool, why: bool = False, text: Iterator[str] | None = None
) -> None:
    """Print a result: as JSON, or as the lines of `text`, or as tables of the shape."""
    if as_json:
        import json

        click.echo(json.dumps(shape, indent=2, ensure_ascii=False, allow_nan=False))
        return
    from ndbplan.cli.tables import derivations, lines_of

    lines = list(lines_of(shape) if text is None else text)
    if why:
        lines += derivations(shape)
    click.echo("\n".join(lines).strip("\n"))


@ndbplan.command()
@json_option
def samples(*, as_json: bool) -> None:
    """List the sample plans that come with the program."""
    from ndbplan.plan.samples import sample_names, sample_plan

    rows = []
    for name in sample_names():
        plan = sample_plan(name)
        rows.append(
            {
                "name": name,
                "title": plan.name,
                "ndb_version": plan.ndb_version,
                "hosts": len(plan.hosts),
                "data_nodes": len(plan.data_nodes),
                "tables": len(plan.tables),
            }
        )
    show({"samples": rows}, as_json=as_json)


@ndbplan.command()
@click.option("--sample", metavar="NAME", help="Begin with a copy of this sample; without it: empty.")
@click.option(
    "-o",
    "--output",
    "output",
    metavar="PLAN",
    required=True,
    type=click.Path(path_type=Path),
    help="The file.",
)
@json_option
def new(sample: str | None, output: Path, *, as_json: bool) -> None:
    """Write a new plan file, empty or as a copy of a sample. A file there before stays as PLAN~."""
    from ndbplan.plan.file import save
    from ndbplan.plan.plan import EMPTY_PLAN
    from ndbplan.plan.samples import sample_names, sample_plan

    if sample is not None and sample not in sample_names():
        raise UsageError(
            f"there is no sample '{sample}'", where="--sample", fix=f"use one of {', '.join(sample_names())}"
        )
    save(EMPTY_PLAN if sample is None else sample_plan(sample), output)
    show({"files": [str(output)]}, as_json=as_json, text=iter([f"wrote {output}"]))


@ndbplan.command()
@click.option(
    "--output",
    "command",
    metavar="COMMAND",
    help="The shape that this command prints with --json, instead of the plan file.",
)
def schema(command: str | None) -> None:
    """Print the JSON Schema of the plan file; with --output that of a command's result."""
    from ndbplan.cli.schemas import output_schema, output_schemas, plan_schema

    if command is None:
        show(plan_schema(), as_json=True)
        return
    if command not in output_schemas():
        raise UsageError(
            f"'{command}' prints no JSON", where="--output", fix=f"use one of {', '.join(output_schemas())}"
        )
    show(output_schema(command), as_json=True)
