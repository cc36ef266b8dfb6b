"""The command `ndbplan` itself, and what its subcommands share: --json, --why, printing a result."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_PLAN_SUFFIX = ".ndbplan"


class ReaderGoneError(Exception):
    """Whoever read the output has closed it; click would end the program with 1 on the OSError itself."""


class _Command(click.Command):
    """A command whose options count each time that they are given, or may be given once."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        _, _, order = self.make_parser(ctx).parse_args(list(args))
        for option in order:
            if isinstance(option, click.Option) and not (option.multiple or option.is_flag):
                count = sum(other is option for other in order)
                if count > 1:
                    what = f"it is given {count} times, and only one of them would count — give it once"
                    raise click.BadParameter(what, ctx, option)
        return super().parse_args(ctx, args)


class _Commands(click.Group):
    """Commands by name; a plan file in place of one opens it in the window."""

    command_class = _Command

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise ReaderGoneError from None

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
@click.option(
    "--units",
    type=click.Choice(["decimal", "binary"]),
    help="Print all bytes in powers of 1000 (GB) or of 1024 (GiB); JSON has plain bytes.",
)
@click.pass_context
def ndbplan(ctx: click.Context, units: str | None) -> None:
    """Plan MySQL NDB Cluster deployments: where data lands, what disks must take, how long operations last.

    Without a command: the window.
    """
    if units is not None:
        from ndbplan.base.units import use_system

        use_system(units)
        ctx.call_on_close(lambda: use_system(""))
    if ctx.invoked_subcommand is None:
        ctx.invoke(ndbplan.commands["open"], plan_file=None)


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

        from ndbplan.base.shapes import printed

        click.echo(json.dumps(printed(shape), indent=2, ensure_ascii=False, allow_nan=False))
        return
    from ndbplan.describe.tables import derivations, lines_of

    lines = list(lines_of(shape) if text is None else text)
    if why:
        lines += derivations(shape)
    click.echo("\n".join(lines).strip("\n"))


@contextmanager
def simulating() -> Iterator[None]:
    """The first simulation on a machine is compiled first: what runs inside says so when it comes to that."""
    from ndbplan.simulate.kernel import ready as kernel

    with kernel.told_before(_prepare_simulation):
        yield


def _prepare_simulation() -> None:
    """Say that it is compiled; at a terminal also how far that is."""
    import sys

    from ndbplan.simulate.kernel import ready as kernel

    click.echo(kernel.announcement(), err=True)
    if sys.stderr.isatty():
        kernel.wait_until_prepared(lambda _share, text: click.echo(f"\r{text}\033[K", nl=False, err=True))
        click.echo("\r\033[K", nl=False, err=True)
