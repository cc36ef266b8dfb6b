"""Commands about documents that leave the program: making a report, and checking one."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show, simulating
from ndbplan.cli.parameters import PLAN, Names, UsageError, Whole, read_bytes, read_project, read_text

if TYPE_CHECKING:
    from ndbplan.report.verify import Verified

_REPORT_BYTES = 100_000_000


@ndbplan.command()
@PLAN
@click.option(
    "-o", "--output", metavar="FILE", required=True, type=click.Path(path_type=Path),
    help="The report: .html, .pdf or .pptx (slides).",
)  # fmt: skip
@click.option("--variants", metavar="A,B", help="Variants of PLAN to put side by side.")
@click.option("--sections", metavar="NAME,...", type=Names(), help="Only these; `--sections x` lists them.")
@click.option("--customer", default="", metavar="NAME", help="For whom it is.")
@click.option("--date", "day", default="", metavar="YYYY-MM-DD", help="Its date; without it none is printed.")
@click.option("--logo", type=click.Path(path_type=Path), metavar="FILE", help="A picture for its head.")
@click.option(
    "--notes", type=click.Path(path_type=Path), metavar="FILE.md",
    help="Text in Markdown; what stands under the title of a section goes there.",
)  # fmt: skip
@click.option("--workload", default="", metavar="NAME", help="Its load; without it the plan's first.")
@click.option("--seed", type=Whole(0, 2**31 - 1), default=1, show_default=True, help="Of the simulated load.")
@click.option(
    "--without", type=click.Choice(["prices", "plan"]),
    help="What stays out of the file: prices, or the whole plan; `verify` then says what it cannot check.",
)  # fmt: skip
@json_option
def report(
    plan_file: Path,
    output: Path,
    variants: str | None,
    sections: tuple[str, ...] | None,
    customer: str,
    day: str,
    logo: Path | None,
    notes: Path | None,
    workload: str,
    seed: int,
    without: str | None,
    *,
    as_json: bool,
) -> None:
    """Write a document about a plan: figures with ranges, charts, what may fail, problems, configuration.

    The plan travels inside the file: the window opens it, and `verify` works every figure out again.
    """
    from ndbplan.base.files import write_atomically
    from ndbplan.edits.variants import named
    from ndbplan.report.compose import Options
    from ndbplan.report.logo import data_url
    from ndbplan.report.write import report as document

    project, place = read_project(plan_file)
    try:
        options = Options(
            variant=project.names[place] if place else "",
            variants=() if variants is None else tuple(named(project, variants)),
            sections=sections or (),
            customer=customer,
            date=_day(day),
            notes="" if notes is None else read_text(notes),
            logo="" if logo is None else data_url(logo),
            seed=seed,
            workload=workload,
            without=without or "",
        )
        with simulating():
            content = document(project, options, output.suffix.lower())
    except UsageError:
        raise
    except UserError as error:
        raise UsageError(error.what, where=error.where or str(output), fix=error.fix) from None
    write_atomically(output, content)
    show({"files": [str(output)]}, as_json=as_json, text=iter([f"wrote {output}"]))


def _day(text: str) -> str:
    """A date as it was typed. Raises UsageError for what is none."""
    if not text:
        return ""
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise UsageError(
            f"'{text[:40]}' is not a date", where="--date", fix="type for example 2026-05-09"
        ) from None


@ndbplan.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@json_option
@click.pass_context
def verify(ctx: click.Context, file: Path, *, as_json: bool) -> None:
    """Work every figure of a report out again, from the plan inside it. Exit code 1: some differ."""
    from ndbplan.cli.window import drawn
    from ndbplan.demo.page import played_again
    from ndbplan.report.verify import verify as check

    content = read_bytes(file, _REPORT_BYTES)
    try:
        with simulating():
            found = check(content, str(file), drawn, played_again)
    except UserError as error:
        raise UsageError(error.what, where=error.where or str(file), fix=error.fix) from None
    show(found.to_json(), as_json=as_json, text=_lines(found))
    ctx.exit(1 if found.differ else 0)


_SHOWN = 100


def _lines(found: Verified) -> Iterator[str]:
    yield from found.notes
    for one in found.differ[:_SHOWN]:
        if one.written and one.computed:
            yield f"{one.where}: the file says {one.written!r}, it comes out as {one.computed!r}"
        else:
            yield f"{one.where}: " + (
                f"the file says {one.written!r}"
                if one.written
                else f"{one.computed!r} is missing from the file"
            )
    if len(found.differ) > _SHOWN:
        yield f"… and {len(found.differ) - _SHOWN} more (--json lists all)"
    yield from (f"cannot be checked — {what}" for what in found.not_checked)
    end = f"{len(found.differ)} differ" if found.differ else "all as written"
    yield f"{found.figures} figures worked out again, {end}; made by ndbplan {found.made_by}"
