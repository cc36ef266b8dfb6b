"""Variants of a project: added, removed, named, put in order. Functions from a Project to a Project.

    project = added(project, "More cores", 0, update(plan, "a1", cores=48))
    project = promoted(project, place_of(project, "More cores"))

Each raises EditError and leaves the project as it was.
"""

from __future__ import annotations

from itertools import count
from pathlib import Path

from ndbplan.edits.reading import near
from ndbplan.edits.validated import EditError, changed
from ndbplan.plan.file import load, load_project
from ndbplan.plan.plan import Plan
from ndbplan.plan.project import MOST_VARIANTS, Project, Variant

LONGEST_NAME = 64


def place_of(project: Project, name: str) -> int:
    """The place of the variant with this name. Raises EditError, which says the nearest."""
    if name in project.names:
        return project.names.index(name)
    raise EditError(f"there is no variant '{name[:80]}'", where="variants", fix=near(name, project.names))


def named(project: Project, text: str) -> list[str]:
    """The variants in a list with commas, of which a name may hold some itself. Raises EditError."""
    parts, names = _parts(text), []
    known = {_parts(name): name for name in reversed(project.names)}
    while parts:
        several = next((n for n in range(len(parts), 0, -1) if parts[:n] in known), 1)
        typed, parts = parts[:several], parts[several:]
        name = ", ".join(typed)
        # A name that is written so wins over one that differs from it in spaces.
        names.append(name if name in project.names else known.get(typed, name))
    return [project.names[place_of(project, name)] for name in names]


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(","))


def variant_in(path: Path) -> tuple[Path, str] | None:
    """The file and the variant that `FILE@VARIANT` names; None: it is the name of a file."""
    text = str(path)
    ends = [at for at, letter in enumerate(text) if letter == "@"]
    if path.exists():
        return None
    return next(((Path(text[:at]), text[at + 1 :]) for at in ends if Path(text[:at]).is_file()), None)


def load_variant(path: Path) -> Plan:
    """The main plan of a file, or the variant that `FILE@VARIANT` names. Raises PlanFileError, EditError."""
    chosen = variant_in(path)
    if chosen is None:
        return load(path)
    project = load_project(chosen[0])
    return project.variants[place_of(project, chosen[1])].plan


def free_name(project: Project, like: str) -> str:
    """A name that no variant has: this one, or with a number behind it."""
    tries = (f"{like[: LONGEST_NAME - 4]} {number}" for number in count(2))
    return like if like not in project.names else next(name for name in tries if name not in project.names)


def shortened(text: str) -> str:
    """As much of a text as a variant can be called."""
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1].rstrip()}…"


def added(project: Project, name: str, source: int, plan: Plan | None = None, note: str = "") -> Project:
    """A new variant at the end: a plan, or the one of the variant at the place `source`."""
    if len(project.variants) >= MOST_VARIANTS:
        raise EditError(
            f"a file has at most {MOST_VARIANTS} variants, a limit of this program",
            where="variants",
            fix="remove one, or write it to a file of its own",
        )
    _refuse_name(project, name)
    variant = changed(project.variants[source], name=name, note=note)
    variant = variant.model_copy(update={"plan": variant.plan if plan is None else plan})
    return _of(*project.variants, variant)


def removed(project: Project, place: int) -> Project:
    """Without the variant at a place; another one becomes the main one where that was it."""
    if len(project.variants) == 1:
        raise EditError(
            f"'{project.names[0]}' is the only variant; a file holds one at least",
            where="variants",
            fix="add another one first",
        )
    return _of(*project.variants[:place], *project.variants[place + 1 :])


def renamed(project: Project, place: int, name: str) -> Project:
    """The variant at a place with another name."""
    if project.names[place] == name:
        return project
    _refuse_name(project, name)
    return _exchanged(project, place, changed(project.variants[place], name=name))


def noted(project: Project, place: int, note: str) -> Project:
    """The variant at a place with another note."""
    return _exchanged(project, place, changed(project.variants[place], note=note))


def moved(project: Project, place: int, to: int) -> Project:
    """The variant at a place put at another one, counted without it; the first is the main one."""
    to = max(0, min(to, len(project.variants) - 1))
    if to == place:
        return project
    others = [variant for n, variant in enumerate(project.variants) if n != place]
    return _of(*others[:to], project.variants[place], *others[to:])


def promoted(project: Project, place: int) -> Project:
    """The variant at a place as the main one."""
    return moved(project, place, 0)


def _refuse_name(project: Project, name: str) -> None:
    """Raises EditError for one that nobody could tell apart, or see."""
    if name.isspace():
        raise EditError("a name of blanks alone cannot be seen", where="variants", fix="write a name")
    if name in project.names:
        raise EditError(
            f"there is a variant '{name[:80]}' already", where="variants", fix="choose another name"
        )


def _exchanged(project: Project, place: int, variant: Variant) -> Project:
    if variant is project.variants[place]:
        return project
    return _of(*project.variants[:place], variant, *project.variants[place + 1 :])


def _of(*variants: Variant) -> Project:
    return Project.model_construct(variants=variants)
