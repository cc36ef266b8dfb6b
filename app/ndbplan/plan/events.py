"""What happens while a workload runs: failures, backups, growth, bursts, changes."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from ndbplan.plan.fields import Assumable, Id, Identifier, ParameterValue, Seconds, with_kind


class _Event(Assumable):
    at_s: Seconds
    """Seconds after the start of the workload."""

    @model_serializer(mode="wrap")
    def _kind_first(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return with_kind(self, handler)


class NodeFailure(_Event):
    """A data node dies; it may be started again."""

    kind: Literal["node_failure"] = "node_failure"
    object_id: Id
    """The data node's process."""
    back_after_s: Seconds | None = None
    """When it is started again, after its failure; None: not at all."""


class SqlNodeDown(_Event):
    """An SQL node stops; its clients send nothing."""

    kind: Literal["sql_node_down"] = "sql_node_down"
    object_id: Id
    duration_s: Seconds = 0.0
    """0: for the rest of the run."""


class DiskSlow(_Event):
    """A disk gets slower, or fails."""

    kind: Literal["disk_slow"] = "disk_slow"
    object_id: Id
    factor: float = Field(default=0.5, ge=0, le=10)
    """Speed against what it was; 0: it fails, and the data nodes that use it die."""
    duration_s: Seconds = 0.0
    """0: for the rest of the run."""


class Backup(_Event):
    """A backup is started."""

    kind: Literal["backup"] = "backup"


class NodesAdded(_Event):
    """Node groups are created and every table is reorganised."""

    kind: Literal["nodes_added"] = "nodes_added"
    groups: int = Field(default=1, ge=1, le=72)


class Burst(_Event):
    """Clients send more, or less, for a while."""

    kind: Literal["burst"] = "burst"
    factor: float = Field(default=2.0, ge=0, le=1000)
    duration_s: Seconds = 60.0


class ParameterChange(_Event):
    """A data node parameter is changed with a rolling restart."""

    kind: Literal["parameter"] = "parameter"
    name: Identifier
    value: ParameterValue


Event = Annotated[
    NodeFailure | SqlNodeDown | DiskSlow | Backup | NodesAdded | Burst | ParameterChange,
    Field(discriminator="kind"),
]
