"""What the command palette offers in a window: actions, panels, parameters, places, samples, problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from ndbplan.configuration.stated import SCOPES
from ndbplan.describe.titles import display_name
from ndbplan.desktop.actions import SPECS, Actions
from ndbplan.desktop.dialogs.command_palette import Command
from ndbplan.desktop.dialogs.gallery import blurb
from ndbplan.desktop.document import new_parts
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.editor import Editor
from ndbplan.edits import palette as catalogue
from ndbplan.plan.samples import sample_names

_SPECS = {spec.name: spec for spec in SPECS}
_PART_ICONS = {"Host": "server", "Location": "warehouse", "Disk": "hard-drive", "Table": "table-2"}
_SCOPE_TEXT = {
    "data_node": "data nodes", "management": "management nodes", "sql": "SQL and API nodes",
    "tcp": "TCP links", "shm": "shared memory links", "system": "the system",
}  # fmt: skip
_SHORTENED = 90
_IN_MENUS = {"Theme": "Theme: ", "Units": "Units: "}
"""What stands before the text of an action that says too little without its menu."""


_MORE_OF_TABS = {
    "Simulation": "transactions latency events monte carlo range uncertainty",
    "Memory": "DataMemory what if rows",
    "Operations": "backup restore add nodes rto",
    "Failures": "node rack host",
    "Compare": "side by side",
}
"""Further words by which the tabs of the analyses are found."""
_TABS_ARE_CALLED = {
    "Simulation": "run replay",
    "Distribution": "partition partitions skew balance fragments hash map",
    "Tables": "rows growth grid spreadsheet",
    "Memory": "ram",
    "Operations": "restart restarts rolling reorganise reorganize duration procedure",
    "Failures": "loss survive survival kill arbitrator",
    "Problems": "errors warnings hints fix",
    "Compare": "variants",
    "What matters": "assumptions sensitivity measure tighten",
    "Export preview": "config.ini my.cnf runbook ansible schema",
}
"""Other names of them."""


_MORE_OF_ACTIONS = {
    "import": "files config.ini SQL",
    "picture": "image screenshot print share",
    "report": "print share pdf html slides customer",
    "export": "files write deploy ansible systemd",
    "delete": "remove erase node host disk",
    "rename": "name node host disk",
    "present": "larger text font size projector slides",
    "keys": "keyboard shortcuts commands mouse",
    "live": "training train trainee console ndb_mgm mysql",
    "lessons": "training train trainee exercise",
    "compare": "running difference diff ndb_config",
    "size": "sizing requirements new cluster",
    "sweep": "sweep parameter study combinations table",
    "measured": "calibrate calibration fit timed measurement",
    "variant_new": "scenario alternative copy of the plan snapshot",
    "undo": "history back",
    "guide": "help manual documentation",
}
"""Further words by which actions are found."""
_MORE_OF_WAYS = {"cost": "price prices money"}
_MORE_OF_MENUS = {"Theme": "settings preferences appearance mode", "Units": "settings preferences bytes"}


class Doors(NamedTuple):
    """Where commands lead to in a window."""

    go_to: Callable[[str], object]
    """Select an object and bring it into view."""
    open_sample: Callable[[str], object]
    open_page: Callable[..., object]
    """A page of the guide by its file, or the first that holds some words."""
    open_parameter: Callable[[str, str], object]
    """A parameter of all nodes of a kind: the plan's name of the kind, the parameter's name."""
    open_tab: Callable[..., object]
    """A tab of the analyses, or a part of one, by their names."""
    fix_all: Callable[[], object]
    """Apply all fixes that cost nothing."""
    problems: Callable[[], Iterator[tuple[str, str, str | None]]]
    """Message, severity and the object of each problem there is."""
    show_help: Callable[[], object]
    """The highest load, and what would raise it."""
    colour_by: Callable[[str], object]
    """Colour the canvas by one of the WAYS; nothing: by none."""
    do_step: Callable[[str], object]
    """Do a step of a first plan."""
    show_plan: Callable[[], object]
    """Bring the plan in front."""


def commands_of(actions: Actions, editor: Editor, document: Document, doors: Doors) -> Iterator[Command]:
    """Everything that can be done in the window now."""
    for action in actions.all():
        spec = _SPECS[action.objectName()]
        if action.isEnabled() and spec.name != "find":
            keys = action.shortcut().toString().replace("+", " ")
            text = _IN_MENUS.get(spec.menu, "") + action.text().rstrip("…")
            also = _MORE_OF_ACTIONS.get(spec.name, ""), _MORE_OF_MENUS.get(spec.menu, "")
            yield Command(text, "", spec.icon, action.trigger, keys, " ".join((spec.menu, spec.tip, *also)))
    for command in (*_offers(editor), *_parts(editor, doors), *_colourings(document, doors)):
        yield replace(command, run=partial(_before_all_eyes, doors, command.run))
    yield from _places(document, doors)
    yield from _parameters(document, doors)
    for sample in sample_names():
        title, opened = blurb(sample).title, partial(doors.open_sample, sample)
        yield Command(
            f"Sample {sample}", title, "sparkles", opened, more=f"new plan {title}", is_sentence=True
        )
    yield from _pages(doors)
    problems = list(doors.problems())
    if problems:
        yield Command("Fix all problems", "all that costs nothing", "sparkles", doors.fix_all, "", "problem")
    for message, severity, object_id in problems:
        text = message if len(message) <= _SHORTENED else f"{message[:_SHORTENED]}…"
        lead = partial(doors.open_tab, "Problems") if object_id is None else partial(doors.go_to, object_id)
        yield Command(text, severity, "triangle-alert", lead, "", f"problem {message}", is_sentence=True)


def _before_all_eyes(doors: Doors, run: Callable[[], object]) -> None:
    """A live cluster or the gallery may lie over the plan."""
    doors.show_plan()
    run()


def _offers(editor: Editor) -> Iterator[Command]:
    """What is in the palette beside the canvas."""
    for entry in catalogue.offers():
        if entry.kind != "role":
            add = partial(editor.add_beside_selection, entry.key)
            yield Command(f"Add {entry.text}", entry.kind, entry.icon, add, called=entry.kind)


def _parts(editor: Editor, doors: Doors) -> Iterator[Command]:
    """What a plan gets that has no place on the canvas."""
    sql = "CREATE TABLE statements DDL schema paste import"
    yield Command("Tables from SQL", "plan", "table-2", partial(doors.do_step, "tables"), "", sql)
    yield Command(
        "Workload from the tables", "plan", "activity", partial(doors.do_step, "load"), called="load"
    )
    where = editor.document, editor.selection
    yield Command("Add a table", "plan", "table-2", partial(new_parts.add_table, *where))
    yield Command(
        "Add a workload", "plan", "activity", partial(new_parts.add_workload, *where), called="load"
    )
    disk_data = "disk data undo log file group"
    yield Command(
        "Add a tablespace", "plan", "hard-drive", partial(new_parts.add_tablespace, *where), "", disk_data
    )


def _places(document: Document, doors: Doors) -> Iterator[Command]:
    from ndbplan.desktop.analyses.area import TABS

    for name, _module, _panel in TABS:
        lead = partial(doors.open_tab, name)
        called = _TABS_ARE_CALLED.get(name, "")
        yield Command(name, "analysis", "activity", lead, "", _MORE_OF_TABS.get(name, ""), called)
    lead = partial(doors.open_tab, "Operations", "Backup")
    yield Command("Backup and restore", "Operations", "timer", lead, "", "rpo rto recovery point disaster")
    plan = document.plan
    if plan.workloads and plan.data_nodes:
        more = "load highest sustained headroom"
        called = "max maximum limit remedies"
        yield Command("What would help", "inspector", "sparkles", doors.show_help, "", more, called)
    for table in plan.tables[:1]:
        lead = partial(doors.go_to, table.id)
        yield Command(
            "Where a key lies", "page of a table", "table-2", lead, "", "of a key hash node", "partition"
        )
    for part in plan.objects():
        host = plan.host_of_disk.get(part.id)
        text = f"{host.hostname} / {part.name}" if host is not None else display_name(plan, part)
        icon = _PART_ICONS.get(type(part).__name__, "circle-dot")
        yield Command(text, "go to", icon, partial(doors.go_to, part.id), "", type(part).__name__)


def _colourings(document: Document, doors: Doors) -> Iterator[Command]:
    from ndbplan.describe.colouring import WAYS

    for name, way in WAYS.items():
        # Changes are those against another variant.
        if name != "change" or len(document.project.variants) > 1:
            title = way.title if way.title.isupper() else way.title.lower()
            lead = partial(doors.colour_by, name)
            yield Command(
                f"Colour by {title}",
                "canvas",
                "layers",
                lead,
                "",
                f"overlay heat {way.tip} {_MORE_OF_WAYS.get(name, '')}",
            )
    lead = partial(doors.colour_by, "")
    yield Command("Colour by what it is", "canvas", "layers", lead, "", "overlay none usual colours")


def _parameters(document: Document, doors: Doors) -> Iterator[Command]:
    from ndbplan.ndb.parameters import parameters

    for scope, where in _SCOPE_TEXT.items():
        for parameter in parameters(SCOPES[scope], document.plan.version):
            lead = partial(doors.open_parameter, scope, parameter.name)
            # Two underscores begin what the manual does not tell of.
            is_rare = parameter.name.startswith("_")
            yield Command(
                parameter.name, where, "sliders-horizontal", lead, "", "parameter", is_sentence=is_rare
            )


def look_in_guide(open_search: Callable[[str], object], typed: str) -> Command:
    """What is offered for words that nothing is called by."""
    return Command(f"Search the guide for “{typed[:60]}”", "guide", "search", partial(open_search, typed))


def _pages(doors: Doors) -> Iterator[Command]:
    from ndbplan.desktop.dialogs.guide_window import errors_told, pages

    for error in errors_told():
        lead = partial(doors.open_page, "simulation.md", str(error.code))
        yield Command(f"Error {error.code}: {error.text}", "guide", "circle-help", lead, is_sentence=True)
    for file, title in pages():
        yield Command(title, "guide", "circle-help", partial(doors.open_page, file))
