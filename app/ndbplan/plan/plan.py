"""The Plan: one immutable value that holds everything the user designs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from functools import cache, cached_property
from typing import Annotated, Any, NoReturn, Self

from annotated_types import MaxLen
from pydantic import AfterValidator, Field, model_validator

from ndbplan.base.errors import UserError
from ndbplan.base.resources import read_json
from ndbplan.ndb.features import Features, features
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import (
    NO_PARAMETERS,
    Assumable,
    Id,
    Identifier,
    Label,
    Note,
    Parameters,
    Part,
    Price,
    Ref,
    limit_of,
    no_control,
)
from ndbplan.plan.hardware import Host, Location
from ndbplan.plan.origins import ClusterOrigins
from ndbplan.plan.places import inside
from ndbplan.plan.processes import ApiSlot, DataNode, Link, ManagementNode, Process, SqlNode
from ndbplan.plan.references import BrokenReferenceError, first_broken, stays_whole
from ndbplan.plan.tables import LogfileGroup, Table, Tablespace
from ndbplan.plan.workloads import Workload

FORMAT_VERSION = 2


class GoneError(UserError, KeyError):
    """No object of the plan has this id: who holds it asked for it before it was removed."""

    def __init__(self, object_id: str) -> None:
        super().__init__(
            f"there is no '{object_id}' in the plan", fix="it may have been removed: select another"
        )


class PartsById(dict[str, Any]):
    """PartsById by id; GoneError for an id that none has."""

    def __missing__(self, object_id: str) -> NoReturn:
        raise GoneError(object_id)


def _known_version(text: str) -> str:
    NdbVersion.parse(text)
    return text


@cache
def _currencies() -> frozenset[str]:
    return frozenset(read_json("currencies.json")["codes"].split())


def known_currency(code: str) -> str:
    """The code of a currency itself; ValueError for one that ISO 4217 does not have."""
    if code not in _currencies():
        raise ValueError("is not a currency of ISO 4217; write its code of three letters, such as EUR or USD")
    return code


class ClusterParameters(Part):
    """Configuration parameters set for all nodes of a kind, by the manual's names."""

    data_node: Parameters = NO_PARAMETERS
    management: Parameters = NO_PARAMETERS
    sql: Parameters = NO_PARAMETERS
    tcp: Parameters = NO_PARAMETERS
    shm: Parameters = NO_PARAMETERS
    system: Parameters = NO_PARAMETERS
    """The [system] section: name of the cluster, primary management node."""


class Waiver(Part):
    """A problem that the designer has looked at and accepts."""

    rule: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
    """Name of the rule, as `ndbplan check` prints it."""
    object_id: Annotated[Id | None, Ref("objects", gone="remove")] = None
    """Only where the rule concerns this object; None: everywhere."""
    reason: Annotated[str, Field(min_length=1, max_length=500), AfterValidator(no_control)]


Loading = Annotated[float, Field(ge=-50, le=50)]


class Calibration(Assumable):
    """A measured rate that replaces one of the engine's constants."""

    constant: Identifier
    """Name in resources/ndb/constants.json."""
    value: float = Field(ge=0, le=1e18)
    low: float | None = Field(default=None, ge=0, le=1e18)
    high: float | None = Field(default=None, ge=0, le=1e18)
    source: Label
    """Where it was measured."""
    shared: tuple[Loading, ...] = Field(default=(), max_length=64)
    """How its logarithm moves with each unknown that a measurement of several constants at once left open, by
    a standard deviation of it: those of one source are known together. Empty: it is known by itself."""


NDB_TABLES = 20320
"""Highest MaxNoOfTables of the catalogue, which a test compares."""


class Plan(Assumable):
    """A cluster as designed. Never changed: an edit makes a new Plan that shares the untouched parts."""

    format_version: int = FORMAT_VERSION
    name: Label = "Untitled"
    notes: Note = ""
    ndb_version: Annotated[str, AfterValidator(_known_version)] = "8.4"
    locations: tuple[Location, ...] = Field(default=(), max_length=10_000)
    hosts: tuple[Host, ...] = Field(default=(), max_length=10_000)
    processes: tuple[Process, ...] = Field(default=(), max_length=10_000)
    parameters: ClusterParameters = ClusterParameters.model_construct()
    origins: ClusterOrigins = ClusterOrigins.model_construct()
    """Who set the parameters of all nodes of a kind, where it was not a person."""
    logfile_groups: tuple[LogfileGroup, ...] = Field(default=(), max_length=10_000)
    tablespaces: tuple[Tablespace, ...] = Field(default=(), max_length=10_000)
    tables: tuple[Table, ...] = Field(default=(), max_length=NDB_TABLES)
    workloads: tuple[Workload, ...] = Field(default=(), max_length=1000)
    calibrations: tuple[Calibration, ...] = Field(default=(), max_length=10_000)
    links: tuple[Link, ...] = Field(default=(), max_length=100_000)
    waivers: tuple[Waiver, ...] = Field(default=(), max_length=10_000)
    backups_kept: int = Field(default=1, ge=0, le=1000)
    """Backups that lie on the disks at the same time, the one being written included; nothing removes them
    but the operator. 0: they are made elsewhere or not at all."""
    currency: Annotated[str, AfterValidator(known_currency)] | None = None
    """Of all prices, by its code in ISO 4217."""
    cost_months: int = Field(default=36, ge=1, le=600)
    """Months over which costs are summed: what is bought is used so long."""
    price_per_kwh: Price | None = None
    """Of electricity, cooling included where somebody counts it in."""

    @model_validator(mode="after")
    def _references_hold(self) -> Self:
        if self.broken is not None:
            raise self.broken
        return self

    @cached_property
    def broken(self) -> BrokenReferenceError | None:
        """The first thing in which it contradicts itself, or is more than a file may hold; None: nothing."""
        return next(self._too_many(), None) or first_broken(self)

    def broken_since(self, before: Plan) -> BrokenReferenceError | None:
        """The same of a plan made from another, which is quicker while that one holds what it names."""
        if before.broken is None and next(self._too_many(), None) is None and stays_whole(before, self):
            vars(self)["broken"] = None
        return self.broken

    def _too_many(self) -> Iterator[BrokenReferenceError]:
        for name, most in _MOST.items():
            if (count := len(getattr(self, name))) > most:
                what = f"{count} are too many: a plan has at most {most}, {limit_of(name)}"
                yield BrokenReferenceError(what, where=name, fix="take some out")

    def replace(self, **fields: Any) -> Plan:
        """A plan with these fields exchanged; everything else is the same object. Validates nothing."""
        values = {name: fields.pop(name, getattr(self, name)) for name in Plan.model_fields}
        if fields:
            raise TypeError(f"Plan has no field {sorted(fields)}")
        return Plan.model_construct(_fields_set=set(values), **values)

    @cached_property
    def version(self) -> NdbVersion:
        """The NDB version aimed at."""
        return NdbVersion.parse(self.ndb_version)

    @cached_property
    def features(self) -> Features:
        """What that version does."""
        return features(self.version)

    @cached_property
    def by_id(self) -> PartsById:
        """Every object that has an id; GoneError for any other."""
        return PartsById((part.id, part) for part in self.objects())

    def objects(self) -> Iterator[Any]:
        """Every object that has an id, in file order."""
        yield from self.locations
        for host in self.hosts:
            yield host
            yield from host.disks
        yield from self.processes
        yield from self.logfile_groups
        yield from self.tablespaces
        yield from self.tables
        yield from self.workloads

    @cached_property
    def host_of_disk(self) -> dict[str, Host]:
        """Host of each disk, by disk id."""
        return {disk.id: host for host in self.hosts for disk in host.disks}

    def hosts_in(self, location_ids: Collection[Id]) -> tuple[Host, ...]:
        """Hosts in these locations, or in one that lies in them."""
        wanted = inside(self.locations, location_ids)
        return tuple(host for host in self.hosts if host.location_id in wanted)

    @cached_property
    def processes_of_host(self) -> dict[str, tuple[Process, ...]]:
        """Processes on each host, by host id."""
        by_host: dict[str, list[Process]] = {host.id: [] for host in self.hosts}
        for process in self.processes:
            if process.host_id is not None:
                by_host[process.host_id].append(process)
        return {host_id: tuple(processes) for host_id, processes in by_host.items()}

    def host(self, host_id: Id) -> Host:
        """The host with this id; GoneError when there is none."""
        host = self.by_id[host_id]
        if not isinstance(host, Host):
            raise GoneError(host_id)
        return host

    def table(self, name_or_id: str) -> Table:
        """The table with this id or `database.table` name; GoneError when there is none."""
        for table in self.tables:
            if name_or_id in (table.id, table.full_name):
                return table
        raise GoneError(name_or_id)

    def workload(self, name_or_id: str) -> Workload:
        """The workload with this id or name; GoneError when there is none."""
        for workload in self.workloads:
            if name_or_id in (workload.id, workload.name):
                return workload
        raise GoneError(name_or_id)

    @cached_property
    def data_nodes(self) -> tuple[DataNode, ...]:
        """Data nodes in node-id order, reserved ones included."""
        return tuple(sorted((p for p in self.processes if isinstance(p, DataNode)), key=lambda p: p.node_id))

    @cached_property
    def management_nodes(self) -> tuple[ManagementNode, ...]:
        """Management nodes in node-id order."""
        return tuple(
            sorted((p for p in self.processes if isinstance(p, ManagementNode)), key=lambda p: p.node_id)
        )

    @cached_property
    def sql_nodes(self) -> tuple[SqlNode, ...]:
        """SQL nodes in node-id order."""
        return tuple(sorted((p for p in self.processes if isinstance(p, SqlNode)), key=lambda p: p.node_id))

    @cached_property
    def api_slots(self) -> tuple[ApiSlot, ...]:
        """API slots in node-id order."""
        return tuple(sorted((p for p in self.processes if isinstance(p, ApiSlot)), key=lambda p: p.node_id))


_MOST: Mapping[str, int] = {
    name: limit.max_length
    for name, field in Plan.model_fields.items()
    for limit in field.metadata
    if isinstance(limit, MaxLen) and field.default == ()
}
"""Parts of each collection at most. Edits share collections instead of validating them: they are counted."""

EMPTY_PLAN = Plan()
"""The plan of a new window."""
