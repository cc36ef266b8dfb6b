"""What happens while a workload runs: failures, backups, growth, bursts, changes.

A class says how an event is called and what forms show of it; menus, forms, the command line and what is
usual when one is added follow.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, get_args

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from ndbplan.plan.fields import Assumable, Id, Identifier, ParameterValue, Ref, Seconds, Shown, with_kind

_BACK = "Data nodes that stopped are started then; a cluster that stopped stays stopped"
_FILLED = "A new device is filled from then on; 0: a spare stands by"
_REST = "0: for the rest of the run"


class _Event(Assumable):
    title: ClassVar[str]
    """What happens, in menus and over forms."""
    at_s: Annotated[Seconds, Shown("At")]
    """Seconds after the start of the workload."""

    @model_serializer(mode="wrap")
    def _kind_first(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return with_kind(self, handler)


class NodeFailure(_Event):
    """A data node dies; it may be started again."""

    title: ClassVar[str] = "Data node fails"
    kind: Literal["node_failure"] = "node_failure"
    object_id: Annotated[Id, Ref("data_nodes", gone="remove"), Shown("Data node")]
    """The data node's process."""
    back_after_s: Annotated[Seconds | None, Shown("Started after", "stays down")] = None
    """When it is started again, after its failure; None: not at all."""


class SqlNodeDown(_Event):
    """An SQL node stops; its clients send nothing."""

    title: ClassVar[str] = "SQL node stops"
    kind: Literal["sql_node_down"] = "sql_node_down"
    object_id: Annotated[Id, Ref("sql_nodes", gone="remove"), Shown("SQL node")]
    duration_s: Annotated[Seconds, Shown("For", tip=_REST)] = 0.0
    """0: for the rest of the run."""


class ManagementNodeDown(_Event):
    """A management server stops, and with it the arbitrator when it is the elected one."""

    title: ClassVar[str] = "Management node stops"
    kind: Literal["management_node_down"] = "management_node_down"
    object_id: Annotated[Id, Ref("management_nodes", gone="remove"), Shown("Management node")]
    """The management node's process."""
    back_after_s: Annotated[Seconds | None, Shown("Started after", "stays down")] = None
    """When it is started again, after it stopped; None: not at all."""


class HostFailure(_Event):
    """A host falls silent: its power is gone, and with it every process on it."""

    title: ClassVar[str] = "Host fails"
    kind: Literal["host_failure"] = "host_failure"
    object_id: Annotated[Id, Ref("hosts", gone="remove"), Shown("Host")]
    """The host."""
    back_after_s: Annotated[Seconds | None, Shown("Back after", "stays down", _BACK)] = None
    """When the host is back and its processes are started, after its failure; None: not at all."""


class LocationFailure(_Event):
    """A rack, room or zone falls silent with all its hosts."""

    title: ClassVar[str] = "Rack or location fails"
    kind: Literal["location_failure"] = "location_failure"
    object_id: Annotated[Id, Ref("locations", gone="remove"), Shown("Location")]
    """The location."""
    back_after_s: Annotated[Seconds | None, Shown("Back after", "stays down", _BACK)] = None
    """When its hosts are back and their processes are started, after its failure; None: not at all."""


class BetweenSides(_Event):
    """What happens to a link or switch between two sides."""

    kind: str
    object_ids: Annotated[
        tuple[Id, ...], Ref("places", gone="remove"), Field(min_length=1, max_length=255), Shown("One side")
    ]
    """Locations, hosts and processes of one side."""
    other_ids: Annotated[
        tuple[Id, ...], Ref("places", gone="remove"), Field(max_length=255), Shown("Other side")
    ] = ()
    """Those of the other side; none: everything that is not of the first."""


class NetworkCut(BetweenSides):
    """A link or switch fails: two sides lose sight of each other, every process lives on."""

    title: ClassVar[str] = "Link or switch fails"
    kind: Literal["network_cut"] = "network_cut"
    back_after_s: Annotated[Seconds | None, Shown("Healed after", "stays cut", _BACK)] = None
    """When both sides see each other again and data nodes that stopped are started; None: not at all."""


class NetworkSlow(BetweenSides):
    """A link or switch carries less: what crosses between two sides gets a share of its bandwidth."""

    title: ClassVar[str] = "Link or switch becomes slow"
    kind: Literal["network_slow"] = "network_slow"
    factor: Annotated[float, Shown("Speed ×", tip="Against what the plan says of hosts and uplinks")] = Field(
        default=0.1, gt=0, le=1
    )
    """Bandwidth of what crosses against what the plan says of hosts and uplinks."""
    duration_s: Annotated[Seconds, Shown("For", tip=_REST)] = 0.0
    """0: for the rest of the run."""


class DiskSlow(_Event):
    """A disk gets slower, or fails."""

    title: ClassVar[str] = "Disk becomes slow"
    kind: Literal["disk_slow"] = "disk_slow"
    object_id: Annotated[Id, Ref("disks", gone="remove"), Shown("Disk")]
    factor: Annotated[float, Shown("Speed ×", tip="Against what it was; 0: it fails")] = Field(
        default=0.5, ge=0, le=10
    )
    """Speed against what it was; 0: it fails, and the data nodes that use it die."""
    duration_s: Annotated[Seconds, Shown("For", tip=_REST)] = 0.0
    """0: for the rest of the run."""


class DiskFull(_Event):
    """Other files take all the room of a disk: whatever needs more of it stops."""

    title: ClassVar[str] = "Disk is full"
    kind: Literal["disk_full"] = "disk_full"
    object_id: Annotated[Id, Ref("disks", gone="remove"), Shown("Disk")]
    """The disk."""
    duration_s: Annotated[Seconds, Shown("For", tip=_REST)] = 0.0
    """0: for the rest of the run; data nodes that stopped stay down."""


class DeviceFailure(_Event):
    """One device of a disk fails: a mirror or parity goes on without it and is slower, others are gone."""

    title: ClassVar[str] = "Device of a disk fails"
    kind: Literal["device_failure"] = "device_failure"
    object_id: Annotated[Id, Ref("disks", gone="remove"), Shown("Disk")]
    """The disk."""
    back_after_s: Annotated[Seconds | None, Shown("Replaced after", "not in this run", _FILLED)] = None
    """When a new device takes its place and is filled, after its failure; None: not in this run."""


class Backup(_Event):
    """A backup is started."""

    title: ClassVar[str] = "Backup"
    kind: Literal["backup"] = "backup"


class NodesAdded(_Event):
    """Node groups are created and every table is reorganised."""

    title: ClassVar[str] = "Node groups are added"
    kind: Literal["nodes_added"] = "nodes_added"
    groups: Annotated[int, Shown("Node groups")] = Field(default=1, ge=1, le=72)


class Burst(_Event):
    """Clients send more, or less, for a while."""

    title: ClassVar[str] = "Burst of load"
    kind: Literal["burst"] = "burst"
    factor: Annotated[float, Shown("Load ×")] = Field(default=2.0, ge=0, le=1000)
    duration_s: Annotated[Seconds, Shown("For")] = 60.0


class ParameterChange(_Event):
    """A data node parameter is changed with a rolling restart."""

    title: ClassVar[str] = "Parameter changes"
    kind: Literal["parameter"] = "parameter"
    name: Annotated[Identifier, Shown("Parameter")]
    value: Annotated[ParameterValue, Shown("New value")]


Event = Annotated[
    NodeFailure
    | ManagementNodeDown
    | SqlNodeDown
    | HostFailure
    | LocationFailure
    | NetworkCut
    | NetworkSlow
    | DiskSlow
    | DiskFull
    | DeviceFailure
    | Backup
    | NodesAdded
    | Burst
    | ParameterChange,
    Field(discriminator="kind"),
]


@cache
def kinds() -> dict[str, type[_Event]]:
    """The classes of events by their kinds."""
    return {event.model_fields["kind"].default: event for event in get_args(get_args(Event)[0])}


def shown_fields(event: type[_Event]) -> Iterator[tuple[str, Shown, Ref | None, Any]]:
    """What forms show of an event: field, how it is shown, what it names, and its type."""
    for name, field in event.model_fields.items():
        ref = next((one for one in field.metadata if isinstance(one, Ref)), None)
        for shown in field.metadata:
            if isinstance(shown, Shown):
                yield name, shown, ref, field.annotation


SPELLINGS = {
    "at": "at_s", "for": "duration_s", "duration": "duration_s", "back_after": "back_after_s",
    "object": "object_id", "node": "object_id", "disk": "object_id", "host": "object_id",
    "location": "object_id", "rack": "object_id", "objects": "object_id", "object_ids": "object_id",
    "from": "other_ids", "other": "other_ids", "others": "other_ids",
}  # fmt: skip
"""Fields of events as people type them; `object_ids` have two sides, all others `object_id`."""


def field_typed(kind: str, name: str) -> str:
    """The field of an event of this kind that is meant by a name; a name that is none stays as it is."""
    field = SPELLINGS.get(name, name)
    event = kinds().get(kind)
    two_sided = event is not None and "object_ids" in event.model_fields
    return "object_ids" if field == "object_id" and two_sided else field
