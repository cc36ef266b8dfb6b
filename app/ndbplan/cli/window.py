"""The commands that need the window's code: opening it, and drawing its canvas into a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.parameters import PLAN, UsageError, read_plan, variant_place

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan


def draw(
    plan: Plan, picture: Path, look: Literal["light", "dark"], without: str = "", colour_by: str = ""
) -> None:
    """The canvas as a picture. Raises RenderError for a file that cannot be written."""
    from ndbplan.desktop.render import render

    render(plan, picture, look, without=without, colour_by=colour_by)


def drawn(plan: Plan, suffix: str, look: str) -> bytes:
    """The same as the content of a file."""
    from ndbplan.desktop.render import drawn_as

    return drawn_as(plan, suffix, look)


@ndbplan.command("open")
@click.argument("plan_file", metavar="[PLAN]", required=False, type=click.Path(path_type=Path))
@click.option("--variant", metavar="NAME", help="Show this variant of PLAN; without it the first.")
def open_window(plan_file: Path | None, variant: str | None = None) -> None:
    """Open the window, with a plan or with the gallery of samples."""
    from ndbplan.plan.file import open_file

    # Before a window appears: whatever is wrong with the file is said here.
    opened = None if plan_file is None else open_file(plan_file)
    if variant is not None:
        if opened is None:
            raise UsageError("no plan is named", where="--variant", fix="name the plan whose variant it is")
        variant_place(opened.project, variant, "--variant")
    from ndbplan.desktop.start import NoDisplayError, run

    try:
        code = run(plan_file, variant=variant or "")
    except NoDisplayError as error:
        raise UsageError(error.what, where=error.where, fix=error.fix) from None
    click.get_current_context().exit(code)


@ndbplan.command()
@PLAN
@click.option(
    "-o",
    "--output",
    "picture",
    metavar="FILE",
    required=True,
    type=click.Path(path_type=Path),
    help="The picture: .png, .svg or .pdf.",
)
@click.option(
    "--colour-by", metavar="WHAT",
    help="Colour hosts, nodes and disks: cpu, memory, disk, space, network, problem, cost, group, loss.",
)  # fmt: skip
@click.option("--dark", is_flag=True, help="Light text on dark ground.")
@click.option(
    "--without", type=click.Choice(["prices", "plan"]),
    help="The plan travels inside the picture: its prices stay out, or all of it.",
)  # fmt: skip
@json_option
def render(
    plan_file: Path,
    picture: Path,
    colour_by: str | None,
    without: str | None,
    *,
    dark: bool,
    as_json: bool,
) -> None:
    """Draw the canvas into a file, with loads and problems on it. Needs no display."""
    from ndbplan.desktop.render import RenderError, pictured

    if colour_by is not None and colour_by not in pictured():
        what, fix = f"'{colour_by[:40]}' is not what colours can show", f"name one of {', '.join(pictured())}"
        raise UsageError(what, where="--colour-by", fix=fix)
    plan = read_plan(plan_file)
    try:
        draw(plan, picture, "dark" if dark else "light", without or "", colour_by or "")
    except RenderError as error:
        raise UsageError(error.what, where=error.where, fix=error.fix) from None
    from ndbplan.describe.estimated import coloured

    loads, colouring = coloured(plan, colour_by or "")
    painted = {name: dict(values) for name, values in loads._asdict().items() if values}
    if colouring.shades:
        painted["shades"] = {object_id: shade.text for object_id, shade in colouring.shades.items()}
    shape = {"files": [str(picture)], "painted": painted}
    show(shape, as_json=as_json, text=iter([f"wrote {picture}"]))
