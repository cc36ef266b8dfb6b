"""Files of demos: read, checked against their plans, and written by the window.

found = DEMOS.read(Path("mine.demo.yaml"))      # AuthoredError names file, line, field, value, limit
project = project_of(found.value, start, found.folder)
faults = checked(found)                         # what only shows when its scenes are worked out
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import ValidationError

from ndbplan.base.authored import Authored, Fault, Kind, said
from ndbplan.base.errors import UserError, readable
from ndbplan.base.files import write_atomically
from ndbplan.demo.model import Begin, Demo
from ndbplan.demo.stage import Stage
from ndbplan.edits.assign import assign
from ndbplan.edits.growth import add_node_group
from ndbplan.plan.file import SUFFIX, open_file
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import Project, Variant
from ndbplan.plan.samples import sample_names, sample_plan
from ndbplan.train.consoles import addressed

DEMOS = Kind(Demo, "demos", "demo", "ndbplan demo schema")
BESIDE = ".demo.yaml"
"""Ending of the file beside a plan that holds its scenes."""


def own() -> list[Authored[Demo]]:
    """The product's demos, in their order."""
    return sorted(DEMOS.own(), key=lambda one: (one.value.order, one.value.name))


def beside(plan_file: Path) -> Path:
    """Where the scenes of a plan file lie.

    Not in it: a plan file of this format with a field that a program does not know is refused, and who
    designs the plan and who shows it change different things.
    """
    return plan_file.with_name(plan_file.name.removesuffix(SUFFIX) + BESIDE)


def project_of(demo: Demo, start: Begin, folder: Path | None = None) -> Project:
    """The plan with the variants that a demo shows. Raises UserError that names what is wrong."""
    if start.file:
        path = Path(start.file)
        project = open_file(path if folder is None else folder / path).project
    elif start.sample in sample_names():
        project = Project.of(sample_plan(start.sample))
    else:
        names = ", ".join(sample_names())
        raise UserError(
            f"'{readable(start.sample, 60)}' is not a sample", where="sample", fix=f"one of {names}"
        )
    project = project.with_plan(0, _changed(project.main, start.changes))
    at = demo.worded(start)
    made = tuple(
        Variant(name=one.name, plan=add_node_group(changed, one.groups) if one.groups else changed)
        for one in at.variants
        for changed in (_changed(project.main, one.changes),)
    )
    return Project(variants=(*project.variants, *made)) if made else project


def _changed(plan: Plan, changes: tuple[str, ...]) -> Plan:
    for change in changes:
        plan = assign(plan, change)[0]
    return plan


def written(demo: Demo) -> bytes:
    """A demo as its file has it."""
    import yaml

    plain = demo.model_dump(mode="json", exclude_defaults=True, by_alias=True)
    text: str = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True, width=100)
    return text.encode("utf-8")


def save(demo: Demo, path: Path) -> None:
    """Write a demo. Raises FileError."""
    write_atomically(path, written(demo), backup=True)


def checked(found: Authored[Demo]) -> list[Fault]:
    """Faults of a demo that reads well: plans, variants, what is selected, consoles, numbers of its texts."""
    faults: list[Fault] = []
    for number, start in enumerate(found.value.starts):
        try:
            demo = found.value.worded(start)
            project = project_of(found.value, start, found.folder)
        except ValidationError as error:
            faults.append(found.fault(("starts", number, "words"), said(error.errors()[0])))
            continue
        except UserError as error:
            faults.append(found.fault(("starts", number), error))
            continue
        stage = Stage(demo, project)
        for place in range(len(demo.scenes)):
            faults += _of_scene(found, stage, place)
    return sorted(set(faults))


def _of_scene(found: Authored[Demo], stage: Stage, place: int) -> Iterator[Fault]:
    scene = stage.demo.scenes[place]
    if scene.variant not in stage.project.names:
        names = ", ".join(stage.project.names)
        what = f"there is no variant '{scene.variant}'"
        yield found.fault(("scenes", place, "variant"), what, f"one of {names}")
        return
    plan = stage.plan_of(scene)
    for number, name in enumerate(scene.select):
        if name not in plan.by_id:
            yield found.fault(("scenes", place, "select", number), f"the plan has no '{name}'")
    for number, line in enumerate(scene.consoles):
        if addressed(line) is None:
            fix = "begin it with ndb_mgm>, mysql>, HOST$ or !"
            yield found.fault(("scenes", place, "consoles", number), f"'{line}' names no console", fix)
    try:
        stage.shown(place)
    except UserError as error:
        yield found.fault(("scenes", place, error.where or "text"), error)
