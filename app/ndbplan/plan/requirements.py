"""What a cluster has to do, before there is one: the file that `ndbplan size` reads.

Requirements.model_validate({"sql": "CREATE TABLE ...", "loads": [...], "survive": ["host"]})

Sizes, times and counts are numbers or texts with units, as people type them: `600 GB`, `10 min`, `120M`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema, field_validator

from ndbplan.base.errors import UserError
from ndbplan.base.units import by_hand, parse_bytes, parse_count, parse_duration_s, parse_whole
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.fields import MAX_BYTES, MAX_RATE, Identifier, Label, Part
from ndbplan.plan.plan import known_currency
from ndbplan.plan.workloads import JobTool, OperationKind

_NUMBER_OR_TEXT = WithJsonSchema({"type": ["number", "string"]})
_LONGEST_S = 10 * 365 * 86400.0
MOST_GROUPS = 144
"""No version has more data nodes, so none more node groups."""
MOST_PER_HOST = 8
"""Data nodes on one host that are looked at: each needs its cores, memory and threads."""


def _typed(parse: Callable[[str], float]) -> BeforeValidator:
    """A text with a unit becomes its number."""

    def read(value: Any) -> Any:
        try:
            return parse(value) if isinstance(value, str) else value
        except UserError as error:
            raise ValueError(error.what) from None

    return BeforeValidator(read)


def _money(text: str) -> float:
    return parse_count(by_hand(text))


def _version(text: str) -> str:
    NdbVersion.parse(text)
    return text


Span = Annotated[float, _typed(parse_duration_s), Field(gt=0, le=_LONGEST_S), _NUMBER_OR_TEXT]
Size = Annotated[float, _typed(parse_bytes), Field(ge=1, le=MAX_BYTES), _NUMBER_OR_TEXT]
Count = Annotated[float, _typed(parse_whole), Field(ge=0, le=10**15), _NUMBER_OR_TEXT]
Rate = Annotated[float, _typed(parse_count), Field(gt=0, le=MAX_RATE), _NUMBER_OR_TEXT]
Money = Annotated[float, _typed(_money), Field(gt=0, le=1e15), _NUMBER_OR_TEXT]
TableName = Annotated[str, Field(min_length=1, max_length=200)]
"""`database.table`."""


class _Asked(Part):
    """A part of the requirements."""

    @field_validator("*", mode="before")
    @classmethod
    def _no_flag(cls, value: Any, info: ValidationInfo) -> Any:
        """The value; ValueError for true and false where a number stands, which would be 1 and 0."""
        of = str(cls.model_fields[info.field_name or ""].annotation)
        if isinstance(value, bool) and re.search(r"\b(int|float)\b", of):
            raise ValueError("it must be a number")
        return value


class WantedRows(_Asked):
    """How many rows a table has, and gains."""

    now: Count | None = None
    """None: as the plan says; 0 without one."""
    growth_per_month: Count | None = None


class WantedOperation(_Asked):
    """Rows of one table that one transaction touches in one way."""

    table: TableName
    kind: OperationKind
    rows: float = Field(default=1.0, ge=1e-6, le=1e7)
    columns: tuple[Identifier, ...] = Field(default=(), max_length=512)
    """Columns an update changes; empty: all that are not in the primary key."""


class WantedTransaction(_Asked):
    """One kind of transaction of a mix."""

    name: Label
    weight: float = Field(default=1.0, ge=1e-6, le=1e6)
    operations: tuple[WantedOperation, ...] = Field(min_length=1, max_length=1000)


class WantedLoad(_Asked):
    """A named load and its peak; each is carried by itself."""

    name: Label
    peak_per_s: Rate | None = None
    """Transactions per second; None: the highest that the plan's workload of this name offers."""
    transactions: tuple[WantedTransaction, ...] = Field(default=(), max_length=1000)
    """Empty: those of the plan's workload of this name."""
    through: Literal["sql", "api"] | None = None
    """What they come through; None: SQL nodes."""
    lasts: Span | None = None
    """How long the peak has to be sustained; None: as long as the plan's workload lasts, else 10 minutes."""


class WantedJob(_Asked):
    """Rows that are loaded within a time."""

    within: Span
    size: Size | None = None
    """Bytes of the values of all rows; None: all rows of the tables."""
    tool: JobTool = JobTool.NDB_IMPORT
    threads: int = Field(default=16, ge=1, le=10_000)


class WantedTimes(_Asked):
    """The longest that work on the cluster may take; None: any time will do."""

    restart: Span | None = None
    """Of one data node."""
    initial_restart: Span | None = None
    system_restart: Span | None = None
    rolling_restart: Span | None = None
    reorganise: Span | None = None
    """Spreading all tables over one node group more."""
    backup: Span | None = None


class Durability(_Asked):
    """What must not be lost; replicas are stated by themselves."""

    time_between_global_checkpoints_ms: int | None = Field(default=None, ge=20, le=32000)
    """Transactions of this time are lost when all data nodes fail at once; None: the default."""
    all_tables_logged: bool = True
    """Whether tables without a redo log get one."""


Layout = Literal["as it is", "one disk", "redo log apart", "striped"]
"""All roles on one disk; the redo log on a disk of its own, the rest on a second; all on four devices
as RAID 10; the disks that the host comes with."""


class WantedHardware(_Asked):
    """What may be bought; every host with every disk in every layout is one class."""

    hosts: tuple[Annotated[str, Field(max_length=80)], ...] = Field(default=(), max_length=40)
    """Keys of the usual classes, `own:host:NAME` of kept ones, names of `own`, `plan` for the plan's; empty:
    the plan's and all usual ones."""
    disks: tuple[Annotated[str, Field(max_length=80)], ...] = Field(default=(), max_length=40)
    """Keys likewise; empty: all usual ones."""
    layouts: tuple[Layout, ...] = Field(default=("as it is", "one disk", "redo log apart"), min_length=1)
    nodes_per_host: tuple[Annotated[int, Field(ge=1, le=MOST_PER_HOST)], ...] = Field(
        default=(1, 2), min_length=1, max_length=MOST_PER_HOST
    )
    """Data nodes on a host, each of another node group; more than one only where fewer hosts or cheaper ones
    do so. The plan's own hosts may also have as many as in the plan."""
    own: tuple[dict[str, Any], ...] = Field(default=(), max_length=100)
    """Further hosts and disks, as the file of kept hardware has them, prices included."""
    clients: Annotated[str, Field(max_length=80)] | None = None
    """Class of the hosts of SQL nodes; None: that of the plan's, else host-small."""


class Requirements(_Asked):
    """All of them; what is not stated is not a requirement."""

    name: Label = "Sized cluster"
    plan: str | None = Field(default=None, max_length=4096)
    """A plan file, beside this one, with the tables, workloads and hosts to begin with."""
    ndb_version: Annotated[str, AfterValidator(_version)] | None = None
    """None: the plan's, else the newest."""
    sql: str | None = Field(default=None, max_length=5_000_000)
    """CREATE TABLE statements."""
    rows: dict[TableName, WantedRows] = Field(default={}, max_length=20_320)
    months: int = Field(default=12, ge=0, le=600)
    """Everything holds with the rows that the tables have after so many months."""
    loads: tuple[WantedLoad, ...] = Field(default=(), max_length=100)
    """Empty: the plan's workloads."""
    headroom: float = Field(default=0.2, ge=0, le=10)
    """So much more than the peak is carried, and so much more than the rows has room."""
    replicas: int = Field(default=2, ge=1, le=4)
    survive: tuple[Literal["host", "rack", "link"], ...] = ("host",)
    """What may fail alone without stopping the cluster; link: the switch of a rack."""
    carry_peak: bool = False
    """Whether the peak is carried meanwhile, without headroom."""
    job: WantedJob | None = None
    within: WantedTimes = WantedTimes()
    durability: Durability = Durability()
    hardware: WantedHardware = WantedHardware()
    least_groups: int = Field(default=1, ge=1, le=MOST_GROUPS)
    most_groups: int = Field(default=MOST_GROUPS, ge=1, le=MOST_GROUPS)
    budget: Money | None = None
    """Over the months of cost."""
    currency: Annotated[str, AfterValidator(known_currency)] | None = None
    cost_months: int | None = Field(default=None, ge=1, le=600)
    answers: int = Field(default=5, ge=1, le=100)
    """Plans that are answered at most, each of a class of its own."""
