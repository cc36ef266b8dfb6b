"""The command `variants`: the plans that one file holds side by side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.changes import OUTPUT, assigned
from ndbplan.cli.group import json_option, ndbplan, show
from ndbplan.cli.parameters import UsageError, Whole

if TYPE_CHECKING:
    from ndbplan.plan.project import Project


@ndbplan.command()
@click.argument("plan_file", metavar="PLAN", type=click.Path(path_type=Path))
@click.option("--add", metavar="NAME", help="Add a variant.")
@click.option("--from", "source", metavar="NAME", help="With --add: like this variant; without it the first.")
@click.option(
    "--set",
    "assignments",
    metavar="ADDRESS=VALUE",
    multiple=True,
    help="With --add: what differs in it, as for `set` (may be repeated).",
)
@click.option("--note", metavar="TEXT", help="With --add or --rename: what the variant is about.")
@click.option("--remove", metavar="NAME", help="Remove a variant.")
@click.option("--rename", metavar="NAME=NEW", help="Give a variant another name.")
@click.option("--promote", metavar="NAME", help="Make a variant the first one, the main plan of the file.")
@click.option("--move", metavar="NAME", help="Put a variant elsewhere in the list, at the place --to.")
@click.option("--to", metavar="N", type=Whole(1, 100), help="With --move: the place, from 1.")
@click.option("--export", metavar="NAME", help="Write a variant alone to the file -o.")
@OUTPUT
@json_option
def variants(plan_file: Path, output: Path | None, *, as_json: bool, **asked: Any) -> None:
    """List the variants of a plan file and what each has other than the first; or change the list.

    The first variant is the main plan: what commands work on without --variant.
    """
    from ndbplan.plan.file import load_project, save

    action = _one_action(asked)
    before = load_project(plan_file)
    files: list[str] = []
    try:
        after = _CHANGES[action](before, asked, plan_file) if action in _CHANGES else before
        exported = None if action != "export" else before.variants[_place(before, asked["export"])]
    except UserError as error:
        raise UsageError(error.what, where=error.where or str(plan_file), fix=error.fix) from None
    if exported is not None:
        if output is None:
            raise UsageError("no file is named", where="--export", fix="name it with -o FILE")
        save(exported.plan, output)
        files = [str(output)]
    elif after is not before or output is not None:
        save(after, output or plan_file)
        files = [str(output or plan_file)]
    rows = _rows(after)
    show({"variants": rows, "files": files}, as_json=as_json, text=_lines(after, rows, files))


_ACTIONS = ("add", "remove", "rename", "promote", "move", "export")
_ONLY_WITH = {"source": ("add",), "assignments": ("add",), "note": ("add", "rename"), "to": ("move",)}
_OPTIONS = {"source": "--from", "assignments": "--set"}


def _one_action(asked: dict[str, Any]) -> str:
    """What is to be done; nothing: the list is only shown. Raises UsageError."""
    wanted = [action for action in _ACTIONS if asked[action] is not None]
    if len(wanted) > 1:
        raise UsageError(
            f"--{wanted[0]} and --{wanted[1]} are two changes",
            where="variants",
            fix="make one after the other",
        )
    action = wanted[0] if wanted else ""
    for name, actions in _ONLY_WITH.items():
        if asked[name] and action not in actions:
            option = _OPTIONS.get(name, f"--{name}")
            fix = f"use it with {' or '.join(f'--{one}' for one in actions)}"
            raise UsageError(f"{option} has no effect on its own", where=option, fix=fix)
    if action == "move" and asked["to"] is None:
        raise UsageError("no place is named", where="--move", fix="name it with --to N, from 1")
    return action


def _place(project: Project, name: str) -> int:
    from ndbplan.edits.variants import place_of

    return place_of(project, name)


def _added(project: Project, asked: dict[str, Any], plan_file: Path) -> Project:
    from ndbplan.edits.variants import added

    source = 0 if asked["source"] is None else _place(project, asked["source"])
    plan, _ = assigned(project.variants[source].plan, asked["assignments"], plan_file)
    return added(project, asked["add"], source, plan, asked["note"] or "")


def _removed(project: Project, asked: dict[str, Any], _plan_file: Path) -> Project:
    from ndbplan.edits.variants import removed

    return removed(project, _place(project, asked["remove"]))


def _renamed(project: Project, asked: dict[str, Any], _plan_file: Path) -> Project:
    from ndbplan.edits.variants import noted, renamed

    old, new = _two_names(project, asked["rename"])
    place = _place(project, old)
    project = renamed(project, place, new)
    return project if asked["note"] is None else noted(project, place, asked["note"])


def _two_names(project: Project, text: str) -> tuple[str, str]:
    """NAME=NEW, of which each may hold an equals sign itself: what a variant is called goes first."""
    cuts = [at for at, sign in enumerate(text) if sign == "="]
    if not cuts:
        raise UsageError(f"'{text[:80]}' names one variant", where="--rename", fix="write NAME=NEW")
    at = next((at for at in reversed(cuts) if text[:at] in project.names), cuts[0])
    return text[:at], text[at + 1 :]


def _promoted(project: Project, asked: dict[str, Any], _plan_file: Path) -> Project:
    from ndbplan.edits.variants import promoted

    return promoted(project, _place(project, asked["promote"]))


def _moved(project: Project, asked: dict[str, Any], _plan_file: Path) -> Project:
    from ndbplan.edits.variants import moved

    return moved(project, _place(project, asked["move"]), asked["to"] - 1)


_CHANGES = {
    "add": _added,
    "remove": _removed,
    "rename": _renamed,
    "promote": _promoted,
    "move": _moved,
}


def _rows(project: Project) -> list[dict[str, Any]]:
    from ndbplan.edits.changes import value_changes

    return [
        {
            "name": variant.name,
            "note": variant.note,
            "main": place == 0,
            "changes": [change.to_json() for change in value_changes(project.main, variant.plan)],
        }
        for place, variant in enumerate(project.variants)
    ]


_SHOWN = 8


def _lines(project: Project, rows: list[dict[str, Any]], files: list[str]) -> Iterator[str]:
    from ndbplan.edits.changes import value_changes

    for number, (row, variant) in enumerate(zip(rows, project.variants, strict=True), 1):
        note = f": {row['note'].splitlines()[0]}" if row["note"] else ""
        yield f"{number:>3}. {row['name']}{' (main)' if row['main'] else ''}{note}"
        for change in value_changes(project.main, variant.plan)[:_SHOWN]:
            is_value = change.name != "object"
            said = f"{change.what}: {' → '.join(change.shown)}" if is_value else change.line
            yield f"       {said}"
        if len(row["changes"]) > _SHOWN:
            yield f"       and {len(row['changes']) - _SHOWN} more"
    yield from (f"wrote {name}" for name in files)
