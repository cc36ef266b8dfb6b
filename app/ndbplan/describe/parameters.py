"""Who set each parameter of a plan, as words and rows that window and terminal share."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final

from ndbplan.base.shapes import Shape
from ndbplan.configuration.stated import SCOPES, Fate, Stated, stated
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.modelled import moves
from ndbplan.ndb.values import format_value
from ndbplan.plan.origins import Origin, SetByImport, SetByProgram
from ndbplan.plan.plan import Plan

SETTERS: Final = ("program", "import", "hand", "default")
"""Who sets values; what nobody states has the product's default."""


def setter(origin: Origin | None) -> str:
    """One of SETTERS for a value that is stated."""
    if isinstance(origin, SetByProgram):
        return "program"
    return "import" if isinstance(origin, SetByImport) else "hand"


def origin_words(origin: Origin | None) -> str:
    """Who set a stated value, in a sentence without its end."""
    return "Set by hand" if origin is None else f"{origin.words[:1].upper()}{origin.words[1:]}"


@dataclass(frozen=True)
class ParameterRow(Shape):
    """One parameter at one place of a plan."""

    JSON = "where section name value set_by modelled why"

    where: str
    section: str
    """Of the catalogue: DB, MGM, API, TCP, SHM or SYSTEM."""
    name: str
    value: str
    """As config.ini has it."""
    set_by: str
    """One of SETTERS."""
    why: str
    """Rule and reason, or file and line."""
    modelled: bool
    """Whether any figure depends on it; others are only carried into config.ini."""


def parameter_rows(plan: Plan, set_by: Collection[str]) -> Iterator[ParameterRow]:
    """The parameters of a plan that were set by one of these; defaults come last."""
    for one in stated(plan):
        if setter(one.origin) in set_by:
            yield _row(one)
    if "default" in set_by:
        yield from _defaults(plan)


def _row(one: Stated) -> ParameterRow:
    reading = one.reading
    parameter = reading.parameter
    value = str(reading.raw) if parameter is None else format_value(parameter, reading.value)
    why = "" if one.origin is None else one.origin.words
    modelled = bool(moves(one.section, reading.name))
    return ParameterRow(one.where, one.section, reading.name, value, setter(one.origin), why, modelled)


def _defaults(plan: Plan) -> Iterator[ParameterRow]:
    counting = {(one.scope, one.reading.name) for one in stated(plan) if one.reading.fate is not Fate.UNKNOWN}
    for scope, section in SCOPES.items():
        for parameter in catalogue.parameters(section, plan.version):
            if (scope, parameter.name) in counting or parameter.status == "internal":
                continue
            value = "" if parameter.default is None else format_value(parameter, parameter.default)
            where = f"all {scope.replace('_', ' ')} settings"
            modelled = bool(moves(section, parameter.name))
            yield ParameterRow(where, section, parameter.name, value, "default", "", modelled)
