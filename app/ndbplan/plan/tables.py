"""Tables, columns, indexes, tablespaces and log file groups."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from itertools import accumulate
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.fields import (
    PATH_PATTERN,
    Assumable,
    Bytes,
    Fraction,
    Id,
    Identifier,
    PathText,
    PositiveBytes,
    Ref,
    Rows,
    no_control,
)

if TYPE_CHECKING:
    TypeName = str
else:
    TypeName = Literal[tuple(COLUMN_TYPES)]
    """The name of a column type: a row of COLUMN_TYPES."""


class PartitionBalance(StrEnum):
    """How many partitions a table gets: PARTITION_BALANCE of the manual."""

    FOR_RP_BY_LDM = "FOR_RP_BY_LDM"
    FOR_RA_BY_LDM = "FOR_RA_BY_LDM"
    FOR_RA_BY_LDM_X_2 = "FOR_RA_BY_LDM_X_2"
    FOR_RA_BY_LDM_X_3 = "FOR_RA_BY_LDM_X_3"
    FOR_RA_BY_LDM_X_4 = "FOR_RA_BY_LDM_X_4"
    FOR_RP_BY_NODE = "FOR_RP_BY_NODE"
    FOR_RA_BY_NODE = "FOR_RA_BY_NODE"


def _declarable(length: int | None, info: ValidationInfo) -> int | None:
    kind = COLUMN_TYPES.get(info.data.get("type", ""))
    if kind is not None and length is not None and length > kind.most_length:
        raise ValueError(f"{kind.name} has at most {kind.most_length} {kind.length}, a limit of NDB")
    return length


_SQL_QUOTED = r"""(?:'(?:[^'\\]|\\.|'')*+'|"(?:[^"\\]|\\.|"")*+"|`(?:[^`]|``)*+`)"""
_SQL_WORD = re.compile(r"[+-]?[0-9.][0-9A-Fa-fxXbeE.+-]*+|(?:_?[A-Za-z]\w*+\s*+)?''|[A-Za-z_]\w*+")
_SQL_CALL = re.compile(r"""(?:[A-Za-z_]\w*+)?\s*+\((?:[^;#'"`\\]|'')*\)""")
"""Nothing stays open in it; no backslash outside of quotes, where the mysql client has commands."""
_LONGEST_VALUE = 1000


def is_sql_value(text: str) -> bool:
    """Whether a text can stand behind DEFAULT or ON UPDATE: a literal, a name, a call or an expression."""
    if len(text) > _LONGEST_VALUE or not text.isprintable():
        return False
    bare = re.sub(_SQL_QUOTED, "''", text)
    if "--" in bare or "/*" in bare:
        return False
    if _SQL_WORD.fullmatch(bare):
        return True
    depths = list(accumulate((letter == "(") - (letter == ")") for letter in bare))
    # What its first parenthesis opens is closed by its last letter.
    inside = depths[bare.find("(") : -1]
    return _SQL_CALL.fullmatch(bare) is not None and depths[-1] == 0 and min(inside) > 0


def _sql_member(text: str) -> str:
    no_control(re.sub(r"[\n\r\t]", " ", text))
    return text


def _sql_value(text: str) -> str:
    if not is_sql_value(text):
        raise ValueError("is not an SQL value in one line: a literal, a call or an expression in parentheses")
    return text


SqlValue = Annotated[str, AfterValidator(_sql_value)]
INLINE_BYTES_MOST = 29980
"""Highest BLOB_INLINE_SIZE (manual 8.4, NDB comment options)."""
SqlMember = Annotated[str, Field(max_length=255), AfterValidator(_sql_member)]


class Column(Assumable):
    """One column, with what is known of its content."""

    name: Identifier
    type: TypeName
    unsigned: bool = False
    length: Annotated[int | None, AfterValidator(_declarable)] = Field(default=None, ge=0, le=4_294_967_295)
    """Declared length: characters of CHAR and VARCHAR, bytes of BINARY and VARBINARY, bits of BIT,
    digits of DECIMAL, fraction digits of TIME, DATETIME and TIMESTAMP, members of ENUM and SET."""
    scale: int | None = Field(default=None, ge=0, le=30)
    """Digits behind the point of DECIMAL."""
    members: tuple[SqlMember, ...] = Field(default=(), max_length=65535)
    """Values of an ENUM or SET, in order; empty: unknown, their number is `length`."""
    blob_inline_bytes: int | None = Field(default=None, ge=1, le=INLINE_BYTES_MOST)
    """BLOB_INLINE_SIZE of the column's comment; None: the type's."""
    blob_part_bytes: int | None = Field(default=None, ge=1, le=13948)
    """Bytes of a part row (MAX_BLOB_PART_SIZE of the comment: the largest); None: the type's."""
    collation: str | None = Field(default=None, pattern=r"^[a-z0-9_]{1,64}$")
    """Collation of a text column; None: the product's default for the version."""
    nullable: bool = True
    auto_increment: bool = False
    default: SqlValue | None = None
    """What DEFAULT says, as SQL; None: nothing, or NULL."""
    on_update: SqlValue | None = None
    """What ON UPDATE says, as SQL: CURRENT_TIMESTAMP."""
    storage: Literal["memory", "disk"] = "memory"
    column_format: Literal["default", "fixed", "dynamic"] = "default"
    average_bytes: float | None = Field(default=None, ge=0, le=4_294_967_295)
    """Mean length in bytes of the values that are not NULL, for variable columns and blobs; None: unknown."""
    null_fraction: Fraction = 0.0


class Index(Assumable):
    """A secondary index."""

    name: Identifier
    columns: tuple[Identifier, ...] = Field(min_length=1, max_length=32)
    kind: Literal["ordered", "unique", "unique_hash"] = "ordered"
    """unique: hash plus ordered index; unique_hash: UNIQUE ... USING HASH."""
    key_arrival: Literal["in_order", "random"] | None = None
    """How new keys come: decides how full the nodes of an ordered index get. None: by the column's type."""


class Table(Assumable):
    """One NDB table."""

    id: Id
    database: Identifier
    name: Identifier
    columns: tuple[Column, ...] = Field(min_length=1, max_length=512)
    primary_key: tuple[Identifier, ...] = Field(default=(), max_length=32)
    """Empty: the product adds a hidden BIGINT key."""
    primary_key_using_hash: bool = False
    key_arrival: Literal["in_order", "random"] | None = None
    """How new primary keys come, as for an index."""
    distribution_key: tuple[Identifier, ...] = Field(default=(), max_length=32)
    """Columns of PARTITION BY KEY; empty: the whole primary key."""
    distribution_key_values: int | None = Field(default=None, ge=1, le=10**15)
    """How many different values these columns have; None: by the table they refer to, else one per row."""
    distribution_key_table_id: Annotated[Id | None, Ref("tables", gone="clear")] = None
    """The table whose rows each are one value: that of the warehouses, for rows distributed by warehouse."""
    distribution_key_first: int | None = Field(default=None, ge=-(2**63), lt=2**64)
    """The values are the whole numbers from here on, one after the other; None: not known which they are."""
    indexes: tuple[Index, ...] = Field(default=(), max_length=10_000)
    rows: Rows = 0
    growth_rows_per_month: Rows = 0
    partition_balance: PartitionBalance = PartitionBalance.FOR_RP_BY_LDM
    partitions: int | None = Field(default=None, ge=1, le=8160)
    """Partitions asked for with PARTITIONS n; None: by partition_balance."""
    max_rows: Rows | None = None
    grown_from: tuple[Annotated[int, Field(ge=1, le=8160)], ...] = Field(default=(), max_length=8160)
    """Partitions it had before online reorganisations, oldest first; empty: never reorganised."""
    hash_map_buckets: int | None = Field(default=None, ge=1, le=65535)
    """Buckets of the map the table was created with; None: the version's default."""
    fully_replicated: bool = False
    read_backup: bool | None = None
    """READ_BACKUP; None: the version's default."""
    logging: bool = True
    row_format_fixed: bool = False
    """ROW_FORMAT=FIXED: no reference to a variable part unless a column needs one."""
    tablespace_id: Annotated[Id | None, Ref("tablespaces", gone="clear")] = None
    left_out: tuple[Annotated[str, Field(max_length=300), AfterValidator(no_control)], ...] = Field(
        default=(), max_length=1000
    )
    """What its CREATE TABLE said besides, which a plan does not hold; schema.sql names it."""
    partition_rows: tuple[Rows, ...] = Field(default=(), max_length=8160)
    """Rows counted in each partition (ndb_desc -p), in partition order; empty: spread by the hash map."""
    partition_variable_bytes: tuple[Bytes, ...] = Field(default=(), max_length=8160)
    """Bytes of variable pages counted in each partition (ndb_desc -p); empty: by the lengths of the columns.

    They count together with partition_rows, as long as those add up to the rows.
    """

    @property
    def full_name(self) -> str:
        """`database.table`."""
        return f"{self.database}.{self.name}"

    def column(self, name: str) -> Column:
        """The column called `name`; KeyError when there is none."""
        for column in self.columns:
            if column.name == name:
                return column
        raise KeyError(name)


class SpaceFile(Assumable):
    """Data or undo files of one size."""

    name: Identifier
    size_bytes: PositiveBytes
    count: int = Field(default=1, ge=1, le=65536)
    directory: PathText | None = None
    """Folder on every data node that holds them: how files lie on several disks. None: that of the others."""

    @model_validator(mode="before")
    @classmethod
    def _with_its_folder(cls, given: Any) -> Any:
        """A name that begins with its folder, as statements have it: whoever asks looks at folders alone."""
        if isinstance(given, Mapping) and not given.get("directory"):
            folder, slash, name = str(given.get("name", "")).rpartition("/")
            if slash and name and re.fullmatch(PATH_PATTERN, folder or slash):
                return {**given, "name": name, "directory": folder or slash}
        return given


class LogfileGroup(Assumable):
    """A log file group: the undo log of disk data."""

    id: Id
    name: Identifier
    undo_files: tuple[SpaceFile, ...] = Field(min_length=1, max_length=10_000)
    undo_buffer_bytes: PositiveBytes = 8 * 1024 * 1024


class Tablespace(Assumable):
    """A tablespace: data files of disk columns."""

    id: Id
    name: Identifier
    logfile_group_id: Annotated[Id, Ref("logfile_groups", gone="remove")]
    data_files: tuple[SpaceFile, ...] = Field(min_length=1, max_length=10_000)
    extent_size_bytes: PositiveBytes = 1024 * 1024
    directory: PathText | None = None
