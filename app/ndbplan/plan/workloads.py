"""What the clients do: transactions and how often they come."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from ndbplan.plan.events import Event
from ndbplan.plan.fields import (
    MAX_RATE,
    Assumable,
    BytesPerS,
    Id,
    Identifier,
    Label,
    Part,
    PerS,
    PositiveBytes,
    Ref,
    Seconds,
    with_kind,
)


class OperationKind(StrEnum):
    """What one operation does to a row."""

    INSERT = "insert"
    UPDATE = "update"
    DELETE = "delete"
    READ = "read"
    SCAN = "scan"


class KeyChoice(NamedTuple):
    """How an operation chooses among the values of the distribution key of its table."""

    kind: Literal["evenly", "power_law", "in_turn"] = "evenly"
    exponent: float = 0.0
    threads: int = 1
    run_rows: float | None = None


EVENLY = KeyChoice()


class Operation(Assumable):
    """Rows of one table that one transaction touches in one way."""

    table_id: Annotated[Id, Ref("tables", gone="remove")]
    kind: OperationKind
    rows: float = Field(default=1.0, ge=1e-6, le=1e7)
    """Rows of this kind in one transaction."""
    columns: tuple[Identifier, ...] = Field(default=(), max_length=512)
    """Columns an update changes; empty: all that are not in the primary key."""
    key_choice: Literal["evenly", "power_law", "in_turn"] = "evenly"
    """Which values of the table's distribution key it chooses. power_law: the value of rank r as often as
    r to the power of minus the exponent. in_turn: one after the other, as a loader does that reads a file."""
    key_exponent: float = Field(default=1.0, ge=0, le=10)
    """Exponent of the power law; 0: evenly."""
    key_threads: int = Field(default=1, ge=1, le=100_000)
    """In turn: threads of the loader, each at a value of its own."""
    key_run_rows: float | None = Field(default=None, ge=1e-6, le=1e15)
    """In turn: rows of one value before the next one; None: the rows of the table over its values."""

    @property
    def choice(self) -> KeyChoice:
        """The choice without what does not matter for its kind."""
        if self.key_choice == "power_law" and self.key_exponent > 0:
            return KeyChoice("power_law", self.key_exponent)
        if self.key_choice == "in_turn":
            return KeyChoice("in_turn", 0.0, self.key_threads, self.key_run_rows)
        return EVENLY


LEAST_WEIGHT, MOST_WEIGHT = 1e-6, 1e6
"""Limits of this program: weights are relative, so nobody needs more of a range."""


class Transaction(Assumable):
    """One kind of transaction of a mix."""

    name: Label
    weight: float = Field(default=1.0, ge=LEAST_WEIGHT, le=MOST_WEIGHT)
    """Share of the mix, relative to the other weights."""
    operations: tuple[Operation, ...] = Field(min_length=1, max_length=1000)


class RatePoint(Part):
    """The offered rate at one moment."""

    at_s: Seconds
    rate_per_s: PerS


class _Load(Assumable):
    @model_serializer(mode="wrap")
    def _kind_first(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return with_kind(self, handler)


class OpenLoad(_Load):
    """Transactions arrive whether or not earlier ones are done."""

    kind: Literal["open"] = "open"
    points: tuple[RatePoint, ...] = Field(min_length=1, max_length=100_000)
    """The rate over time; before the first and after the last point it stays as there."""
    shape: Literal["step", "linear"] = "step"
    repeat_s: Seconds = 0.0
    """The schedule starts again after this time; 0: never."""
    clients: int | None = Field(default=None, ge=1, le=1_000_000)
    """Transactions under way at most: one for each client thread; None: no limit."""
    retries: int = Field(default=0, ge=0, le=1000)
    """How often a client tries again what a temporary error refused."""
    retry_after_s: Seconds = 0.1


class ClosedLoad(_Load):
    """Each client sends its next transaction when the one before is answered."""

    kind: Literal["closed"] = "closed"
    clients: int = Field(ge=1, le=1_000_000)
    latency_s: Seconds
    """Time of one transaction on an idle cluster, round trips included."""
    think_time_s: Seconds = 0.0


class JobTool(StrEnum):
    """What loads the rows of a job."""

    NDB_IMPORT = "ndb_import"
    LOAD_DATA = "load_data"
    NDB_RESTORE = "ndb_restore"
    PROGRAM = "program"


class JobRows(Assumable):
    """Rows of one table that a job loads."""

    table_id: Annotated[Id, Ref("tables", gone="remove")]
    rows: int = Field(gt=0, le=10**15)


class JobLoad(_Load):
    """A fixed number of rows is loaded, as fast as the loader, its source and the cluster allow.

    The rows are among those that the tables state: when the job begins, the tables hold so many fewer.
    """

    kind: Literal["job"] = "job"
    tool: JobTool = JobTool.NDB_IMPORT
    threads: int = Field(default=1, ge=1, le=10_000)
    """Threads of the tool, or sessions that load at the same time; each waits for its answers."""
    rows: tuple[JobRows, ...] = Field(default=(), max_length=100_000)
    """Rows of each table; empty: by `total_bytes`."""
    total_bytes: PositiveBytes | None = None
    """Bytes of the values of all rows; None, without `rows`: all rows that the tables state."""
    source_bytes_per_s: BytesPerS | None = None
    """How fast the files with the rows are read; None: not a limit."""
    rows_per_s_per_thread: float | None = Field(default=None, ge=1e-6, le=MAX_RATE)
    """What one thread loads into an idle cluster, where it was measured; None: what is usual for the tool."""


Load = Annotated[OpenLoad | ClosedLoad | JobLoad, Field(discriminator="kind")]


class Workload(Assumable):
    """A named load: a mix of transactions at a rate."""

    id: Id
    name: Label
    transactions: tuple[Transaction, ...] = Field(min_length=1, max_length=1000)
    load: Load
    duration_s: Seconds = 600.0
    """How long a simulation of it lasts unless told otherwise; a job lasts until its rows are loaded."""
    through: Literal["sql", "api"] | None = None
    """What the transactions come through: SQL nodes (mysqld), or programs on the NDB API. None: SQL nodes
    where the plan has them; a job by its tool."""
    events: tuple[Event, ...] = Field(default=(), max_length=10_000)
    """What happens meanwhile."""
