"""Management nodes, data nodes, SQL nodes and API slots."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from ndbplan.plan.fields import (
    NO_PARAMETERS,
    Assumable,
    Id,
    NodeId,
    Parameters,
    Part,
    Point,
    PositiveBytes,
    Price,
    Ref,
    with_kind,
)
from ndbplan.plan.origins import NO_ORIGINS, Origins

NODE_GROUP_NONE = 65536
"""NodeGroup of a data node reserved for a later CREATE NODEGROUP."""


class DiskRole(StrEnum):
    """What a data node writes to a disk."""

    REDO = "redo"
    LCP = "lcp"
    UNDO = "undo"
    DATA_FILES = "data_files"
    BACKUP = "backup"


DiskId = Annotated[Id | None, Ref("disks", gone="clear")]


class DiskRoles(Part):
    """Disk of each role of a data node, by disk id; None: on the disk of its DataDir (the host's first)."""

    redo: DiskId = None
    lcp: DiskId = None
    undo: DiskId = None
    data_files: DiskId = None
    backup: DiskId = None

    def disk_of(self, role: DiskRole) -> Id | None:
        """The disk id given to `role`."""
        disk_id: str | None = getattr(self, role.value)
        return disk_id


class _Process(Assumable):
    id: Id
    node_id: NodeId
    parameters: Parameters = NO_PARAMETERS
    """Parameters set for this node only; they win over the cluster's."""
    origins: Origins = NO_ORIGINS
    """Who set them, where it was not a person."""
    licence_per_month: Price | None = None
    """What its licence or support costs; None: not stated."""

    @model_serializer(mode="wrap")
    def _kind_first(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return with_kind(self, handler)


class ManagementNode(_Process):
    """ndb_mgmd."""

    kind: Literal["management"] = "management"
    host_id: Annotated[Id, Ref("hosts", gone="remove")]


class DataNode(_Process):
    """ndbmtd or ndbd."""

    kind: Literal["data"] = "data"
    host_id: Annotated[Id, Ref("hosts", gone="remove")]
    node_group: int | None = Field(default=None, ge=0, le=NODE_GROUP_NONE)
    """Its node group; None: the product fills groups in node-id order; 65536: reserved."""
    disk_roles: DiskRoles = DiskRoles.model_construct()
    container_memory_bytes: PositiveBytes | None = None
    """Memory limit of the container it runs in; None: none."""


class SqlNode(_Process):
    """mysqld."""

    kind: Literal["sql"] = "sql"
    host_id: Annotated[Id, Ref("hosts", gone="remove")]
    pool_node_ids: tuple[NodeId, ...] = Field(default=(), max_length=62)
    """Further node ids of its pool of cluster connections."""
    options: Parameters = NO_PARAMETERS
    """Options of mysqld itself, which stand in my.cnf: ndb-batch-size, log-bin and others."""


class ApiSlot(_Process):
    """A connection slot for an API program; without a host it takes a program from anywhere."""

    kind: Literal["api"] = "api"
    host_id: Annotated[Id | None, Ref("hosts", gone="clear")] = None
    position: Point | None = None
    """Where the card of slots without a host stands on the canvas; None: above everything."""


Process = Annotated[ManagementNode | DataNode | SqlNode | ApiSlot, Field(discriminator="kind")]


def process_node_ids(process: ManagementNode | DataNode | SqlNode | ApiSlot) -> tuple[int, ...]:
    """Every node id a process takes: its own and those of its connection pool."""
    return (process.node_id, *process.pool_node_ids) if isinstance(process, SqlNode) else (process.node_id,)


def node_ids(processes: Iterable[ManagementNode | DataNode | SqlNode | ApiSlot]) -> int:
    """How many node ids processes take: a data node has a link to each."""
    return sum(len(process_node_ids(process)) for process in processes)


class Link(Assumable):
    """A connection between two nodes with settings of its own: a [tcp] or [shm] section."""

    kind: Literal["tcp", "shm"] = "tcp"
    process_id_1: Annotated[Id, Ref("processes", gone="remove")]
    process_id_2: Annotated[Id, Ref("processes", gone="remove")]
    parameters: Parameters = NO_PARAMETERS
    origins: Origins = NO_ORIGINS
    """Who set them, where it was not a person."""
