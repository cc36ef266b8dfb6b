"""Commands around plan files: samples, new, schema, export. Each imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.parameters import (
    NEW_PLAN,
    PLAN,
    Names,
    UsageError,
    Whole,
    read_bytes,
    read_other_plan,
    read_plan,
    read_running,
    save_plan,
)

if TYPE_CHECKING:
    from ndbplan.plan.plan import Plan


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
@NEW_PLAN
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
@click.option("--requirements", is_flag=True, help="The file that `size` reads, instead of the plan file.")
@json_option
def schema(command: str | None, *, requirements: bool, as_json: bool) -> None:
    """Print the JSON Schema of the plan file; with --output that of a command's result. Always JSON."""
    del as_json
    from ndbplan.cli.schemas import output_schema, output_schemas, plan_schema, requirements_schema

    if command is None:
        show(requirements_schema() if requirements else plan_schema(), as_json=True)
        return
    if command not in output_schemas():
        raise UsageError(
            f"'{command}' prints no JSON", where="--output", fix=f"use one of {', '.join(output_schemas())}"
        )
    show(output_schema(command), as_json=True)


_PICTURE = "picture"
"""The kind of file of `export` that is a picture of the canvas."""


@ndbplan.command()
@PLAN
@click.option(
    "--to",
    "folder",
    metavar="DIR",
    required=True,
    type=click.Path(path_type=Path),
    help="The folder, made when missing.",
)
@click.option(
    "--only",
    metavar="KIND,...",
    type=Names(),
    help="Kinds of files: config,mycnf,schema,runbook,systemd,hosts,operator,ansible,schedule,picture.",
)
@click.option(
    "--add-groups",
    metavar="N",
    type=Whole(1, 72),
    default=1,
    show_default=True,
    help="Node groups that the runbook's add-node part adds.",
)
@click.option(
    "--from",
    "running_file",
    metavar="RUNNING",
    type=click.Path(path_type=Path),
    help="What runs, a plan, config.ini or my.cnf: the runbook gets a part that brings it to PLAN.",
)
@click.option(
    "--replace",
    is_flag=True,
    help="Also files in DIR that were changed since they were exported, or that were not exported.",
)
@json_option
def export(
    plan_file: Path,
    folder: Path,
    only: tuple[str, ...] | None,
    add_groups: int,
    running_file: Path | None,
    *,
    replace: bool,
    as_json: bool,
) -> None:
    """Write config.ini, a my.cnf for each SQL host, the runbook and more into a folder, with a picture."""
    from ndbplan.configuration.needs import CannotChangeError
    from ndbplan.exporting.export import ExportError, Running
    from ndbplan.exporting.export import export as write_files

    plan = read_plan(plan_file)
    running = None if running_file is None else Running(*read_running(running_file, plan))
    # Drawn here: the files of `exporting` are made without Qt.
    pictures: dict[str, bytes] = {}
    if only is None or _PICTURE in only:
        from ndbplan.cli.window import drawn

        pictures["canvas.svg"] = drawn(plan, ".svg", "light")
    kinds = None if only is None else tuple(kind for kind in only if kind != _PICTURE)
    try:
        written = write_files(
            plan, folder, kinds, add_groups=add_groups, running=running, pictures=pictures, replace=replace
        )
    except (ExportError, CannotChangeError) as error:
        raise UsageError(error.what, where=error.where, fix=error.fix) from None
    show(
        {"files": [str(path) for path in written]},
        as_json=as_json,
        text=(f"wrote {path}" for path in written),
    )


def _measured_disks(
    base: Plan | None, texts: tuple[str, ...]
) -> tuple[tuple[str, ...], dict[str, list[str]]]:
    """Disk ids of `--disk`, and those of each device that is named with them."""
    by_name = (
        {f"{host.hostname}/{disk.name}": disk.id for host in base.hosts for disk in host.disks}
        if base
        else {}
    )
    named: list[str] = []
    devices: dict[str, list[str]] = {}
    for text in texts:
        disk, equals, device = text.partition("=")
        disk_id = by_name.get(disk, disk)
        if equals:
            devices.setdefault(device, []).append(disk_id)
        else:
            named.append(disk_id)
    return tuple(named), devices


@ndbplan.command("import")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@NEW_PLAN
@click.option(
    "--into", "base_file", metavar="PLAN", type=click.Path(path_type=Path), help="Add to a copy of this plan."
)
@click.option("--version", "version", metavar="8.4", help="NDB version of the files; without it: guessed.")
@click.option(
    "--disk",
    "disks",
    metavar="DISK[=DEVICE]",
    multiple=True,
    help="The disk that fio or iostat measured, as id or HOST/NAME, and which device of iostat it is; "
    "may be repeated. Without it devices are found by their names.",
)
@json_option
@click.pass_context
def import_files(
    ctx: click.Context,
    files: tuple[Path, ...],
    output: Path,
    base_file: Path | None,
    version: str | None,
    disks: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Make a plan from files: config.ini, SQL, ndb_desc and ndbinfo output, fio, iostat.

    Exit code 1: a management server would refuse the config.ini.
    """
    from ndbplan.describe.tables import finding_lines
    from ndbplan.importing.config.plan import SAY_THE_VERSION
    from ndbplan.importing.files import import_files as put_together
    from ndbplan.plan.file import PlanFileError

    base = None if base_file is None else read_other_plan(base_file)
    contents = {str(path): read_bytes(path) for path in files}
    try:
        named, devices = _measured_disks(base, disks)
        done = put_together(contents, base, version, named, devices=devices)
    except PlanFileError:
        raise
    except UserError as error:
        where = "--version" if error.where == "ndb_version" else error.where
        raise UsageError(error.what, where=where or ", ".join(contents), fix=error.fix) from None
    save_plan(done.plan, output)
    shape = {"files": [str(output)], **done.to_json()}
    for finding in shape["findings"]:
        if finding["fix"] == SAY_THE_VERSION:
            finding["fix"] = f"{SAY_THE_VERSION} with --version"
    show(shape, as_json=as_json, text=finding_lines(shape))
    ctx.exit(0 if done.accepted else 1)
