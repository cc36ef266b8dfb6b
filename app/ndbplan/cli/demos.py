"""The command `demo`: a plan shown scene by scene, at the terminal and as a file of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ndbplan.base.errors import UserError
from ndbplan.cli.group import json_option, ndbplan, show, simulating
from ndbplan.cli.parameters import UsageError

if TYPE_CHECKING:
    from ndbplan.base.authored import Authored
    from ndbplan.demo.model import Begin, Demo
    from ndbplan.plan.project import Project

Options = dict[str, Any]


@ndbplan.command()
@click.argument("action", metavar="ACTION")
@click.argument("name", metavar="[NAME]", required=False)
@click.option("--start", default="", metavar="NAME", help="Which of the demo's plans, such as today.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE.html", help="With export: the file."
)
@json_option
def demo(action: str, name: str | None, *, as_json: bool, **options: Any) -> None:
    """Demos: a plan shown scene by scene, every number worked out from it.

    \b
    list                  the demos there are
    play NAME|FILE        the scenes one after the other: what is said, and what consoles answer
    check NAME|FILE       what is wrong with a demo, with its line
    export NAME|FILE      one HTML file that replays in a browser: -o FILE.html
    schema                the JSON Schema of a demo file

    """
    known = _ACTIONS.get(action)
    if known is None:
        raise UsageError(
            f"'{action[:40]}' is not an action", where="demo", fix=f"one of {', '.join(_ACTIONS)}"
        )
    known(name, options, as_json)


def _list(_name: str | None, _options: Options, as_json: bool) -> None:
    from ndbplan.demo.files import own

    rows: list[dict[str, Any]] = [
        {"name": one.value.name, "title": one.value.title, "about": one.value.about,
         "starts": [start.name for start in one.value.starts], "scenes": len(one.value.scenes)}
        for one in own()
    ]  # fmt: skip
    text = (f"{row['name']:<12} {row['title']} ({', '.join(row['starts'])})" for row in rows)
    show({"demos": rows}, as_json=as_json, text=text)


def _named(name: str | None) -> str:
    if name is None:
        raise UsageError("one demo is wanted", where="demo", fix="name a file, or one of 'ndbplan demo list'")
    return name


def _begun(name: str | None, options: Options) -> tuple[Authored[Demo], Begin, Project]:
    from ndbplan.demo.files import DEMOS, project_of

    try:
        found = DEMOS.find(_named(name))
        start = found.value.start(options["start"])
        if start is None:
            there = ", ".join(one.name for one in found.value.starts)
            raise UsageError(
                f"the demo has no plan '{options['start']}'", where="--start", fix=f"one of {there}"
            )
        return found, start, project_of(found.value, start, found.folder)
    except UserError as error:
        raise _usage(error) from None


def _usage(error: UserError) -> UsageError:
    return UsageError(error.what, where=error.where or "demo", fix=error.fix)


def _play(name: str | None, options: Options, as_json: bool) -> None:
    from ndbplan.demo.stage import Stage
    from ndbplan.demo.texts import plain

    found, start, project = _begun(name, options)
    stage = Stage(found.value.worded(start), project)
    rows = []
    try:
        with simulating():
            for place, scene in enumerate(stage.demo.scenes):
                said = stage.shown(place)
                rows.append({
                    "title": said.title, "variant": scene.variant, "panel": scene.panel,
                    "at_s": float(scene.at), "text": [plain(line) for line in said.lines],
                    "consoles": [one._asdict() for one in said.consoles],
                })  # fmt: skip
    except UserError as error:
        raise _usage(error) from None
    shape = {"demo": found.value.name, "start": start.name, "scenes": rows}
    show(shape, as_json=as_json, text=_lines(found.value.title, rows))


def _lines(title: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    yield title
    for number, row in enumerate(rows, 1):
        yield f"\n{number}. {row['title']}"
        yield from (f"   {paragraph}" for paragraph in row["text"])
        for console in row["consoles"]:
            yield f"\n{console['line']}"
            yield console["answer"].strip("\n")


def _check(name: str | None, _options: Options, as_json: bool) -> None:
    from ndbplan.base.authored import AuthoredError
    from ndbplan.base.kept import keeping
    from ndbplan.demo.files import DEMOS, checked

    name = _named(name)
    try:
        with simulating(), keeping():
            faults = checked(DEMOS.find(name))
    except AuthoredError as error:
        faults = error.problems
    except UserError as error:
        raise _usage(error) from None

    def text() -> Iterator[str]:
        for fault in faults:
            yield f"{name}:{fault.line}: {fault.text}{f' — {fault.fix}' if fault.fix else ''}"
        if not faults:
            yield f"{name}: nothing is wrong"

    show({"faults": [fault._asdict() for fault in faults]}, as_json=as_json, text=text())
    if faults:
        raise UsageError(f"{len(faults)} faults", where=name, fix="mend them, then check it again")


def _export(name: str | None, options: Options, as_json: bool) -> None:
    from ndbplan.base.files import write_atomically
    from ndbplan.demo.page import page

    output: Path | None = options["output"]
    if output is None or output.suffix.lower() != ".html":
        raise UsageError("a demo is written as HTML", where="-o", fix="add -o demo.html")
    found, start, project = _begun(name, options)
    try:
        with simulating():
            content = page(found.value, start, project)
    except UserError as error:
        raise _usage(error) from None
    write_atomically(output, content)
    show({"files": [str(output)]}, as_json=as_json, text=iter([f"wrote {output}"]))


def _schema(_name: str | None, _options: Options, as_json: bool) -> None:
    from ndbplan.demo.files import DEMOS

    schema = DEMOS.schema()
    show({"schema": schema} if as_json else schema, as_json=True)


_ACTIONS: dict[str, Callable[[str | None, Options, bool], None]] = {
    "list": _list, "play": _play, "check": _check, "export": _export, "schema": _schema,
}  # fmt: skip
