"""What arguments and options of the commands may hold, and how they are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ndbplan.base.errors import UserError

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan
    from ndbplan.plan.project import Project


_MOST_TIMES = 1000.0


class UsageError(UserError):
    """A command that was called with something it cannot take, or a file it cannot read or write."""


class Duration(click.ParamType[float]):
    """Seconds, typed as `10min`, `100ms` or `2 h`."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The seconds in `value`; a usage error when it is not a duration above zero."""
        from ndbplan.base.units import by_hand, parse_duration_s

        if isinstance(value, float):
            return value
        try:
            seconds = parse_duration_s(by_hand(value))
        except UserError as error:
            self.fail(error.line, param, ctx)
        if seconds <= 0:
            self.fail(f"'{value}' is not above zero — type for example 10min", param, ctx)
        return seconds


class Whole(click.ParamType[int]):
    """A whole number of plain digits between two others."""

    name = "number"

    def __init__(self, least: int, most: int) -> None:
        self.least, self.most = least, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number in `value`; a usage error when it is none, too small or too large."""
        from ndbplan.base.units import whole_number

        if isinstance(value, int):
            return value
        number = whole_number(value.strip())
        if number is None or not self.least <= number <= self.most:
            self.fail(f"'{value[:40]}' is not a whole number from {self.least} to {self.most}", param, ctx)
        return number


class Times(click.ParamType[float]):
    """A factor of at most 1000: `0.5`, `2`."""

    name = "factor"

    def __init__(self, *, or_none: bool = False) -> None:
        self.or_none = or_none
        """Whether it may be 0."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The factor in `value`; a usage error when it is not a number, too small or too large."""
        from ndbplan.base.units import by_hand, parse_factor

        if isinstance(value, float):
            return value
        try:
            factor = parse_factor(by_hand(value))
        except UserError as error:
            self.fail(error.line, param, ctx)
        if factor > _MOST_TIMES or (factor <= 0 and not self.or_none):
            least = "0" if self.or_none else "above 0"
            self.fail(f"'{value[:40]}' is outside {least} to {_MOST_TIMES:g}", param, ctx)
        return factor


class Share(click.ParamType[float]):
    """A share of something: `2%`, `0.02`."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The share in `value`; a usage error when it is not a number of percent above zero."""
        if isinstance(value, float):
            return value
        from ndbplan.base.units import TwoReadingsError, by_hand, parse_factor

        text = value.strip()
        try:
            share = parse_factor(by_hand(text.removesuffix("%"))) / (100.0 if text.endswith("%") else 1.0)
        except TwoReadingsError as error:
            self.fail(error.line, param, ctx)
        except UserError:
            share = 0.0
        if not 0.0 < share < 1.0:
            self.fail(f"'{value[:40]}' is not a share between 0 and 1 — type for example 2%", param, ctx)
        return share


class Numbers(click.ParamType[tuple[int, ...]]):
    """Whole numbers above zero with commas between: `4,8`."""

    name = "numbers"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, ...]:
        """The numbers in `value`."""
        from ndbplan.base.units import whole_number

        if isinstance(value, tuple):
            return value
        numbers = tuple(whole_number(part.strip()) or 0 for part in value.split(","))
        if min(numbers) < 1:
            self.fail(f"'{value[:40]}' is not a list of whole numbers — type for example 4,8", param, ctx)
        return numbers


class Names(click.ParamType[tuple[str, ...]]):
    """Names with commas between: `memory,redo`; the command knows which there are."""

    name = "names"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """The names in `value`, each once."""
        if isinstance(value, tuple):
            return value
        names = tuple(dict.fromkeys(part.strip() for part in value.split(",") if part.strip()))
        if not names:
            self.fail("there is no name in it", param, ctx)
        return names


F = TypeVar("F", bound=Callable[..., Any])
_PLACE, _PROJECT = "ndbplan.place", "ndbplan.project"
"""Under which the context of a command keeps which variant it works on, and all of its file."""


def PLAN(function: F) -> F:  # noqa: N802 — a constant to the commands that have it
    """The plan file that a command works on, and which variant of it."""
    named = click.option(
        "--variant",
        metavar="NAME",
        expose_value=False,
        callback=_remember,
        help="Work on this variant of PLAN; without it on the first.",
    )
    plan_file = click.argument("plan_file", metavar="PLAN", type=click.Path(path_type=Path))
    return plan_file(named(function))


NEW_PLAN = click.option(
    "-o",
    "--output",
    "output",
    metavar="PLAN",
    required=True,
    type=click.Path(path_type=Path),
    help="The file.",
)
MIX = click.option(
    "--workload", metavar="NAME", help="The mix of transactions; without it the plan's first workload."
)


def _remember(ctx: click.Context, _param: click.Parameter, name: str | None) -> None:
    ctx.meta[_PLACE] = name


def read_plan(path: Path) -> Plan:
    """The plan that a command works on: the variant of a file that --variant names. Raises PlanFileError.

    `save_plan` writes it back among the others.
    """
    project, place = read_project(path)
    return project.variants[place].plan


def read_project(path: Path) -> tuple[Project, int]:
    """The whole file that a command works on, and the place of the variant that --variant names.

    Raises PlanFileError.
    """
    from ndbplan.plan.file import open_known

    opened, ctx = open_known(path), click.get_current_context()
    project = opened.project
    if opened.turned:
        click.echo(f"ndbplan: {opened.notice(str(path))}", err=True)
    name = ctx.meta.get(_PLACE)
    place = 0 if name is None else variant_place(project, name, f"{path}: --variant")
    ctx.meta[_PROJECT] = project, place
    return project, place


def variant_place(project: Project, name: str, where: str) -> int:
    """The place of a variant by its name. Raises UsageError, which says the nearest."""
    from ndbplan.edits.variants import place_of

    try:
        return place_of(project, name)
    except UserError as error:
        raise UsageError(error.what, where=where, fix=error.fix) from None


def read_other_plan(path: Path) -> Plan:
    """A plan that a command only looks at: the first variant of FILE, or the one that FILE@VARIANT names.

    Raises PlanFileError, UsageError.
    """
    from ndbplan.edits.validated import EditError
    from ndbplan.edits.variants import load_variant

    try:
        return load_variant(path)
    except EditError as error:
        raise UsageError(error.what, where=str(path), fix=error.fix) from None


def save_plan(plan: Plan, path: Path) -> None:
    """Write the plan that `read_plan` gave as it is now, with the other variants of its file.

    Raises PlanFileError.
    """
    from ndbplan.plan.file import save

    stored = click.get_current_context().meta.get(_PROJECT)
    if stored is None:
        save(plan, path)
        return
    project, place = stored
    save(project.with_plan(place, plan), path)


def read_running(path: Path, plan: Plan) -> tuple[Plan, str]:
    """What runs now, and the text of its config.ini where it is not a plan. Raises UsageError."""
    from ndbplan.importing.running import what_runs

    try:
        return what_runs(path, plan, of_a_pipe=True)
    except UserError as error:
        raise UsageError(error.what, where=error.where or str(path), fix=error.fix) from None


def named_table(plan: Plan, name: str) -> Any:
    """The table called `DATABASE.TABLE` (or with that id). Raises UsageError."""
    try:
        return plan.table(name)
    except KeyError:
        known = ", ".join(table.full_name for table in plan.tables[:20])
        raise UsageError(
            f"the plan has no table '{name}'", where="--table", fix=f"use one of {known or 'none'}"
        ) from None


def named_workload(plan: Plan, name: str | None, option: str = "--workload") -> str | None:
    """The id of the workload with this name or id; None for None. Raises UsageError."""
    if name is None:
        return None
    try:
        return plan.workload(name).id
    except KeyError:
        known = ", ".join(f"'{workload.name}' ({workload.id})" for workload in plan.workloads[:20])
        raise UsageError(
            f"the plan has no workload '{name}'", where=option, fix=f"use one of {known or 'none'}"
        ) from None


def read_bytes(path: Path, limit_bytes: int = 50_000_000) -> bytes:
    """The content of a file. Raises UsageError when it cannot be read or is too large."""
    from ndbplan.base.files import read_whole

    return read_whole(path, limit_bytes, of_a_pipe=True, refused=UsageError)


def read_text(path: Path) -> str:
    """The text of a file. Raises UsageError when it cannot be read, is too large or no UTF-8."""
    try:
        return read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(
            f"byte {error.start} is not UTF-8 text", where=str(path), fix="convert the file to UTF-8"
        ) from None


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all. Raises FileError."""
    from ndbplan.base.files import write_atomically

    write_atomically(path, text.encode("utf-8"))


def elsewhere_options(unless_said: str) -> Callable[[F], F]:
    """`--workers`, and `--dask` as `scheduler`: where independent pieces of the work are done."""

    def decorate(function: F) -> F:
        workers = f"Processes; without it {unless_said}."
        dask = "Work on a Dask cluster, such as tcp://head:8786."
        function = click.option("--dask", "scheduler", metavar="ADDRESS", help=dask)(function)
        return click.option("--workers", type=Whole(1, 256), metavar="N", help=workers)(function)

    return decorate
