"""Everything a plan states as configuration parameters, each read once by the reader of its version.

for one in stated(plan):                       # cluster, nodes and single connections alike
    print(one.where, one.name, one.value, one.fate)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from ndbplan.base.kept import kept_by_identity, kept_by_value
from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.features import features
from ndbplan.ndb.parameters import Parameter
from ndbplan.ndb.values import BadValueError, read_value, unwritable
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import Parameters
from ndbplan.plan.origins import Origin
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import Link

SECTIONS = {"data": "DB", "management": "MGM", "sql": "API", "api": "API"}
"""Section of the parameter catalogue for each kind of process."""

SCOPES = {
    "data_node": "DB",
    "management": "MGM",
    "sql": "API",
    "tcp": "TCP",
    "shm": "SHM",
    "system": "SYSTEM",
}
"""Section of the catalogue for each field of `Plan.parameters`."""

KIND_NAMES = {"data": "data node", "management": "management node", "sql": "SQL node", "api": "API slot"}
"""What people call each kind of process."""

OF_PLAN = frozenset({"nodeid", "id", "hostname", "executeoncomputer", "nodegroup", "system"})
"""Parameters of nodes (lower case) that the plan's hosts and processes say."""

OF_LINK = frozenset({"nodeid1", "nodeid2"})
"""Parameters of connections (lower case) that the plan's links say."""


class Fate(StrEnum):
    """What becomes of a stated value."""

    COUNTS = "counts"
    """ndb_mgmd takes it."""
    REFUSED = "refused"
    """It is written, and ndb_mgmd refuses the file."""
    UNKNOWN = "unknown"
    """The version has no such parameter: left out."""
    INTERNAL = "internal"
    """The version does not let users set it: left out."""
    OF_PLAN = "of_plan"
    """The plan says it otherwise (hosts, node ids): left out."""
    DOUBLED = "doubled"
    """The same parameter stands before it in other letters: left out."""
    UNWRITABLE = "unwritable"
    """No line of config.ini can hold it: left out."""


class Reading(NamedTuple):
    """One stated parameter as one version of the product reads it."""

    written: str
    """The name as the plan spells it."""
    raw: int | str
    """The value as the plan holds it."""
    parameter: Parameter | None
    """Of the catalogue; None when the version has none of that name."""
    value: int | str
    """As ndb_mgmd takes it; the raw one where it does not."""
    fate: Fate
    reason: str = ""
    """Why it does not count."""

    @property
    def name(self) -> str:
        """The manual's name; the written one for a parameter that the version does not have."""
        return self.written if self.parameter is None else self.parameter.name


class Stated(NamedTuple):
    """One parameter that the plan states at one place."""

    scope: str
    """Where an edit changes it: a field of `Plan.parameters`, a process id, or a connection."""
    section: str
    where: str
    """The place in words."""
    object_ids: tuple[str, ...]
    reading: Reading
    is_link: bool = False
    origin: Origin | None = None
    """Who set it; None: a person."""


def link_scope(link: Link) -> str:
    """The scope of edits that change parameters of a single connection."""
    return f"link:{link.kind}:{link.process_id_1}:{link.process_id_2}"


def _read(section: str, name: str, raw: int | str, version: NdbVersion) -> Reading:
    if section in ("DB", "MGM", "API") and name.lower() in OF_PLAN:
        return Reading(name, raw, None, raw, Fate.OF_PLAN)
    if section in ("TCP", "SHM") and name.lower() in OF_LINK:
        return Reading(name, raw, None, raw, Fate.OF_PLAN)
    if not catalogue.knows(section, name, version):
        return Reading(name, raw, None, raw, Fate.UNKNOWN)
    return _read_known(section, name, raw, version)


@kept_by_value(8192)
def _read_known(section: str, name: str, raw: int | str, version: NdbVersion) -> Reading:
    """What the version makes of a parameter that it knows: many nodes state the same."""
    parameter = catalogue.parameter(section, name, version)
    if parameter.status == "internal":
        return Reading(name, raw, parameter, raw, Fate.INTERNAL)
    # Blanks at the ends of a number, choice or list mean nothing; those of a path would be lost.
    is_text = parameter.type == "string"
    why = unwritable(parameter.name, str(raw) if is_text else str(raw).strip(" \t\r\n"))
    if why:
        return Reading(name, raw, parameter, raw, Fate.UNWRITABLE, why)
    try:
        return Reading(name, raw, parameter, read_value(parameter, raw, version), Fate.COUNTS)
    except BadValueError as bad:
        return Reading(name, raw, parameter, raw, Fate.REFUSED, str(bad))


@kept_by_identity(size=2048)
def readings(section: str, parameters: Parameters, ndb_version: str) -> tuple[Reading, ...]:
    """What is stated at one place, in order, each as the version reads it."""
    version, found, names = NdbVersion.parse(ndb_version), list[Reading](), set[str]()
    for name, raw in parameters.items():
        reading = _read(section, name, raw, version)
        if name.lower() in names and reading.fate not in (Fate.UNKNOWN, Fate.OF_PLAN, Fate.INTERNAL):
            reading = Reading(name, raw, reading.parameter, reading.value, Fate.DOUBLED)
        names.add(name.lower())
        found.append(reading)
    return tuple(found)


def counting(section: str, parameters: Parameters, ndb_version: str) -> Mapping[str, int | str]:
    """What counts of the parameters stated at one place, by the manual's names."""
    return {r.name: r.value for r in readings(section, parameters, ndb_version) if r.fate is Fate.COUNTS}


_TWINS = {"Discless": "Diskless", "Diskless": "Discless"}


def with_twins(section: str, values: dict[str, Any], version: NdbVersion) -> dict[str, Any]:
    """The values with what an old name sets under the new one, and the other way round (fixDeprecated)."""
    if section == "DB" and features(version).deprecated_pairs:
        for name, twin in _TWINS.items():
            if name in values:
                values.setdefault(twin, values[name])
    return values


def text_of(parameters: Mapping[str, int | str], name: str) -> str | None:
    """The text stated under a name, spelt in any case; None when there is none."""
    found = parameters.get(name)
    if found is None:
        found = next((value for each, value in parameters.items() if each.lower() == name.lower()), None)
    return found if isinstance(found, str) else None


@kept_by_identity(size=4)
def stated(plan: Plan) -> tuple[Stated, ...]:
    """Every parameter that the plan states: for kinds of nodes and connections, for nodes, for links."""
    return tuple(_stated(plan))


def _stated(plan: Plan) -> Iterator[Stated]:
    def of(section: str, parameters: Parameters) -> tuple[Reading, ...]:
        return readings(section, parameters, plan.ndb_version) if parameters else ()

    for scope, section in SCOPES.items():
        where, origins = f"all {scope.replace('_', ' ')} settings", getattr(plan.origins, scope)
        for reading in of(section, getattr(plan.parameters, scope)):
            yield Stated(scope, section, where, (), reading, origin=origins.get(reading.written))
    for process in plan.processes:
        for reading in of(SECTIONS[process.kind], process.parameters):
            where = f"{KIND_NAMES[process.kind]} {process.node_id}"
            origin = process.origins.get(reading.written)
            yield Stated(process.id, SECTIONS[process.kind], where, (process.id,), reading, origin=origin)
    for link in plan.links:
        for reading in of(link.kind.upper(), link.parameters):
            ids = (link.process_id_1, link.process_id_2)
            first, second = (plan.by_id[end].node_id for end in ids)
            where = f"connection of nodes {first} and {second}"
            origin = link.origins.get(reading.written)
            scope = link_scope(link)
            yield Stated(scope, link.kind.upper(), where, ids, reading, is_link=True, origin=origin)


def stated_by_place(plan: Plan) -> Iterator[tuple[Stated, Mapping[str, Stated]]]:
    """For every place that states something: one of its statements, and all that count, by name."""
    places: dict[str, list[Stated]] = {}
    for one in stated(plan):
        places.setdefault(one.scope, []).append(one)
    for found in places.values():
        yield found[0], {one.reading.name: one for one in found if one.reading.fate is Fate.COUNTS}
