"""Commands that change a plan without a window: set, add, remove. The same edits, one line per action."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.parameters import PLAN, UsageError, read_bytes, read_other_plan, read_plan, save_plan

if TYPE_CHECKING:
    from ndbplan.edits.assign import Change
    from ndbplan.plan.plan import Plan

OUTPUT = click.option(
    "-o",
    "--output",
    "output",
    metavar="OUT",
    type=click.Path(path_type=Path),
    help="Write the changed plan here; without it PLAN itself is changed.",
)


def write_changed(before: Plan, after: Plan, source: Path, output: Path | None) -> list[str]:
    """Write the plan if its own reader takes it back; nothing when nothing changed. The files written."""
    if after is before and output is None:
        return []
    save_plan(after, output or source)
    return [str(output or source)]


def _refused(error: UserError, source: Path) -> UsageError:
    return UsageError(error.what, where=error.where or str(source), fix=error.fix)


@ndbplan.command("set")
@PLAN
@click.argument("assignments", metavar="ADDRESS=VALUE...", nargs=-1, required=True)
@OUTPUT
@json_option
def set_fields(plan_file: Path, assignments: tuple[str, ...], output: Path | None, *, as_json: bool) -> None:
    """Set fields of a plan, one after the other; on any error nothing is written.

    ADDRESS: hosts[a1].disks[nvme0].capacity_bytes, processes[3].parameters.RedoBuffer,
    tables[shop.orders].rows, or a parameter or a disk role alone (RedoBuffer, redo.disk.write): all that
    have it. VALUE with units, as in 64 GB, 64M, 20ms, 10k, 25 %, yes; empty: back to the default; auto:
    the program decides (threads, DataMemory and redo log of all data nodes, or of the one that the address
    names) and decides again when the hosts change. What is set otherwise stays. Which problems of `check`
    the plan has no more, and which it has besides, is told.
    """
    from ndbplan.advise.figures import settled_between
    from ndbplan.estimate.estimation import Estimation

    plan = read_plan(plan_file)
    after, done = assigned(plan, assignments, plan_file)
    files = write_changed(plan, after, plan_file, output)
    changes_made = [change.to_json() for change in done]
    problems = settled_between(Estimation(plan), Estimation(after))
    lines = chain(_change_lines(changes_made), problems.lines, _written(files))
    show({"files": files, "set": changes_made, **problems.to_json()}, as_json=as_json, text=lines)


def assigned(plan: Plan, assignments: Iterable[str], source: Path) -> tuple[Plan, list[Change]]:
    """The plan after ADDRESS=VALUE, one after the other, and what changed. Raises UsageError."""
    from ndbplan.edits.assign import assign

    after = plan
    done: list[Change] = []
    for text in assignments:
        try:
            after, changes = _handed_over(after, text) or _with_schedule(after, text) or assign(after, text)
        except UserError as error:
            raise _refused(error, source) from None
        done += changes
    after, follows = _followed(plan, after)
    return after, [*done, *follows]


def _followed(before: Plan, after: Plan) -> tuple[Plan, list[Change]]:
    """The plan in which what the program had set follows the hardware, and which values these are."""
    from ndbplan.advise.follow import followed
    from ndbplan.edits.assign import Change
    from ndbplan.edits.changes import value_changes

    plan = followed(before, after)
    told = (
        Change(f"{change.name} of {change.where}", change.plain_before, change.plain_after)
        for change in value_changes(after, plan)
    )
    return plan, list(told)


def _handed_over(plan: Plan, text: str) -> tuple[Plan, tuple[Change, ...]] | None:
    """`DataMemory=auto`: the program decides on a parameter, for the hosts; None for other texts."""
    from ndbplan.edits.address import resolve
    from ndbplan.edits.assign import Change
    from ndbplan.edits.from_host import CHOSEN, handed_over

    address, _, typed = text.rpartition("=")
    if typed.strip().lower() != "auto":
        return None
    changes = []
    named = resolve(plan, address)
    of_all = [place for place in named if place.path[:2] == ("parameters", "data_node")]
    # A name alone is meant for all: a node that states it itself keeps what it says.
    for place in of_all or [one for one in named if one.path[0] == "processes" and "parameters" in one.path]:
        name = str(place.path[-1])
        if name not in CHOSEN:
            continue
        after = handed_over(plan, name, None if of_all else plan.processes[int(place.path[1])].id)
        [value] = [one.value for one in resolve(after, place.address(after))]
        changes.append(Change(place.address(plan), place.value, value))
        plan = after
    return (plan, tuple(changes)) if changes else None


def _with_schedule(plan: Plan, text: str) -> tuple[Plan, tuple[Change, ...]] | None:
    """`workloads[W].load=@FILE`: moments and rates from a CSV file, as "From CSV…"; None for others."""
    from ndbplan.edits.address import resolve, split
    from ndbplan.edits.assign import Change
    from ndbplan.edits.reading import plain
    from ndbplan.importing.load_schedule import read_schedule_file, with_schedule

    tokens, rest = split(text)
    if (
        not rest.startswith("=@")
        or tokens[0].name != "workloads"
        or len(tokens) != 2
        or tokens[1].name != "load"
    ):
        return None
    path = Path(rest[2:])
    changes = []
    for place in resolve(plan, text[: -len(rest)]):
        workload = plan.workloads[int(place.path[1])]
        try:
            plan = with_schedule(plan, workload.id, read_schedule_file(path))
        except UserError as error:
            raise UsageError(error.what, where=f"{path} {error.where}".strip(), fix=error.fix) from None
        after = plan.workload(workload.id)
        changes.append(Change(place.address(plan), plain(workload.load), plain(after.load)))
    return plan, tuple(changes)


@ndbplan.command("add")
@PLAN
@click.argument("kind", metavar="KIND")
@click.argument("words", metavar="[NAME|FIELD=VALUE]...", nargs=-1)
@click.option("--ddl", metavar="FILE_OR_SQL", help="With `add PLAN table`: CREATE TABLE statements.")
@click.option(
    "--from",
    "other_file",
    metavar="PLAN",
    type=click.Path(path_type=Path),
    help="With `add PLAN copy ADDRESS...`: the plan to copy from.",
)
@OUTPUT
@json_option
def add_part(
    plan_file: Path,
    kind: str,
    words: tuple[str, ...],
    ddl: str | None,
    other_file: Path | None,
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Add something to a plan: `add PLAN host a3 cores=16 memory=64GB location=rack-a`.

    KIND: location, host, disk, management, data, sql, api, node-group, table, column, index, tablespace,
    data-file, logfile-group, undo-file, workload, transaction, operation, point, event, link, waiver,
    calibration, copy (of ADDRESS...). What is not said is as the window makes it; fields are those of `set`.
    """
    from ndbplan.edits.additions import add, add_copies

    plan = read_plan(plan_file)
    if other_file is not None and kind.lower() != "copy":
        fix = "write 'add PLAN copy ADDRESS --from OTHER'"
        raise UsageError(f"'{kind[:60]}' is made new, not copied", where="--from", fix=fix)
    notes: list[str] = []
    try:
        if ddl is not None:
            after, added, notes = _tables_of(plan, kind, words, ddl)
        else:
            from_it = None if other_file is None else read_other_plan(other_file)
            done = add(plan, kind, words) if from_it is None else add_copies(plan, from_it, words)
            after, added = done.plan, list(done.added)
            _refuse_unknown_rules(plan, after)
    except UserError as error:
        raise _refused(error, plan_file) from None
    after, _ = _followed(plan, after)
    files = write_changed(plan, after, plan_file, output)
    for note in notes:
        click.echo(f"ndbplan: --ddl, {note}", err=True)
    shape = {"files": files, "added": added}
    lines = [f"added {one}{_why(after, one)}" for one in added]
    show(shape, as_json=as_json, text=iter([*lines, *_written(files)]))


def _why(plan: Plan, address: str) -> str:
    """What a parameter that came along is, and the reason; nothing for what was asked for."""
    from ndbplan.plan.origins import SetByProgram

    scope, _, name = address.removeprefix("parameters.").partition(".")
    origin = plan.origins.data_node.get(name) if scope == "data_node" else None
    if not isinstance(origin, SetByProgram):
        return ""
    return f" = {_shown(plan.parameters.data_node[name], address)}: {origin.reason}"


def _refuse_unknown_rules(before: Plan, after: Plan) -> None:
    """Raises UsageError when something is accepted that no rule says."""
    if after.waivers == before.waivers:
        return
    from ndbplan.checks.rule import RULES
    from ndbplan.checks.run import load_rules
    from ndbplan.edits.reading import near

    load_rules()
    for waiver in after.waivers:
        if waiver not in before.waivers and waiver.rule not in RULES:
            raise UsageError(
                f"there is no rule '{waiver.rule}'", where="waiver", fix=near(waiver.rule, RULES)
            )


def _tables_of(plan: Plan, kind: str, words: tuple[str, ...], ddl: str) -> tuple[Plan, list[str], list[str]]:
    """The plan with the tables of SQL, as "From SQL…" adds them; their addresses; what could not be read."""
    from ndbplan.edits.assign import assign
    from ndbplan.importing.ddl.into_plan import with_ddl
    from ndbplan.importing.ddl.statements import read_ddl

    if kind.lower() not in ("table", "tables"):
        raise UsageError(
            f"SQL makes tables, not '{kind[:60]}'", where="--ddl", fix="write 'add PLAN table --ddl …'"
        )
    if any("=" not in word for word in words):
        raise UsageError("SQL names its tables itself", where="--ddl", fix="leave the name out")
    text = ddl
    if "(" not in ddl and not re.match(
        r"\s*(?:CREATE|ALTER|DROP|RENAME|TRUNCATE|USE|SET|/\*|--\s)", ddl, re.I
    ):
        text = read_bytes(Path(ddl)).decode("utf-8", "replace")
    definitions = read_ddl(text, plan.version)
    notes = [str(problem) for problem in definitions.problems]
    if definitions.is_empty:
        raise UsageError(
            f"no table could be read{': ' + notes[0] if notes else ''}", where="--ddl", fix="correct the SQL"
        )
    known = plan.by_id
    plan, _, missing = with_ddl(plan, definitions)
    notes += map(str, missing)
    spaces = [
        f"{field}[{part.id}]"
        for field in ("logfile_groups", "tablespaces")
        for part in getattr(plan, field)
        if part.id not in known
    ]
    addresses = [f"tables[{plan.table(table.full_name).id}]" for table in definitions.tables]
    for address in addresses:
        for word in words:
            plan, _ = assign(plan, f"{address}.{word}")
    return plan, [*spaces, *addresses], notes


@ndbplan.command("remove")
@PLAN
@click.argument("addresses", metavar="ADDRESS...", nargs=-1, required=True)
@OUTPUT
@json_option
def remove_parts(plan_file: Path, addresses: tuple[str, ...], output: Path | None, *, as_json: bool) -> None:
    """Remove parts of a plan with what cannot live without them, and say what went along.

    ADDRESS as for `set`, such as hosts[a1], tables[shop.orders], waivers[redo-log-size] or a3; a field or
    parameter that is named is no longer stated.
    """
    from ndbplan.edits.removal import remove

    plan = read_plan(plan_file)
    try:
        removed = remove(plan, addresses)
    except UserError as error:
        raise _refused(error, plan_file) from None
    after, _ = _followed(plan, removed.plan)
    files = write_changed(plan, after, plan_file, output)
    shape: dict[str, Any] = {"files": files, **removed.to_json()}
    lines = [
        *(f"removed {one}" for one in shape["removed"]),
        *(f"with it {one}" for one in shape["along"]),
        *_change_lines(shape["changed"]),
        *_written(files),
    ]
    show(shape, as_json=as_json, text=iter(lines))


def _change_lines(changes: list[dict[str, Any]]) -> Iterator[str]:
    for change in changes:
        both = [change[key] for key in ("before", "after")]
        before, after = (_shown(value, change["address"]) for value in both)
        if before == after and both[0] != both[1]:
            before, after = map(_shown, both)
        yield f"{change['address']}: {before}" + (" as before" if before == after else f" → {after}")


def _written(files: list[str]) -> Iterator[str]:
    yield from (f"wrote {name}" for name in files)
    if not files:
        yield "nothing changes; nothing is written"


def _shown(value: Any, address: str = "") -> str:
    """A value as people read it, as far as its address says what it is."""
    import json

    from ndbplan.plan.field_words import parameter_words, value_words

    if value is None or value == []:
        return "not set"
    # What follows by itself is told by its name and place in words.
    place, _, name = address.partition(" of ")[0].rpartition(".")
    is_parameter = "parameters" in place.split(".") or name[:1].isupper()
    if isinstance(value, int) and not isinstance(value, bool) and is_parameter:
        return parameter_words(name, value)
    if isinstance(value, int | float) and (words := value_words(name, value)) is not None:
        return words
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
