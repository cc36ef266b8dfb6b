"""CREATE TABLE of NDB with its warnings: MySQL NDB Cluster 9.7.4, seen running; the same words in 8.4."""

from __future__ import annotations

import pytest

from .test_new_tables import Ask, ask

__all__ = ["ask"]

NO_OPTION = "ERROR 1478 (HY000): Table storage engine 'ndbcluster' does not support the create option '{}'"
NO_MODIFIER = NO_OPTION.format("Syntax error in COMMENT modifier")
NOT_MADE = "ERROR 1005 (HY000): Can't create table 'tx' (use SHOW WARNINGS for more info)."
TAKEN = "Query OK, 0 rows affected"
NOT_COMMITTED = "Failed to commit NDB schema transaction"
OF_NDB = "Got error {} from NDB"
WIDE = ",".join(f"c{n} char(255)" for n in range(40))
BITS = ",".join(f"c{n} bit(64)" for n in range(70))

SAID: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("(a int primary key) engine=ndb comment='NDB_TABLE=FULLY_REPLICATED=1,READ_BACKUP=0'",
     NO_OPTION.format("READ_BACKUP=0 cannot be used for fully replicated tables"), ()),
    ("(a int primary key) engine=ndb comment='NDB_TABLE=PARTITION_BALANCE=FOO'", TAKEN + ", 1 warning",
     (OF_NDB.format("4500 'Comment contains non-supported fragment count type'"),)),
    ("(a int primary key) engine=ndb comment='NDB_TABLE=READ_BACKUP=0,NOLOGGING=1 hello'", TAKEN + " (", ()),
    ("(a int, b int) engine=ndb partition by key(b)", NOT_MADE,
     (OF_NDB.format("4327 'Distribution key is only supported on part of primary key'"),)),
    ("(a int primary key, b varchar(32000)) engine=ndb charset latin1", NOT_MADE,
     (OF_NDB.format("738 'Record too big'"),)),
    (f"(a int primary key, {WIDE}) engine=ndb charset latin1 row_format=fixed", NOT_MADE,
     (OF_NDB.format("851 'Fixed-size column offset exceeded max.Use VARCHAR or COLUMN_FORMAT DYNAMIC for "
                    "memory-stored columns'"), NOT_COMMITTED)),
    (f"(a int primary key, {BITS}) engine=ndb", NOT_MADE,
     (OF_NDB.format("791 'Too many total bits in bitfields'"), NOT_COMMITTED)),
    ("(a varchar(100), primary key(a(10))) engine=ndb", "ERROR 1089 (HY000): Incorrect prefix key", ()),
    ("(a int primary key, j json, key(j)) engine=ndb",
     "ERROR 3152 (42000): JSON column 'j' supports indexing only via generated columns on a specified JSON "
     "path.", ()),
    ("(a int, b int as (a+1) virtual primary key) engine=ndb", "ERROR 3106 (HY000): 'Defining a virtual "
     "generated column as primary key' is not supported for generated columns.", ()),
    ("(a int primary key, b varchar(10)) engine=ndb row_format=fixed", TAKEN + ", 1 warning",
     ("Row format FIXED incompatible with dynamic attribute b",)),
    ("(a int primary key) engine=ndb row_format=compressed", NO_OPTION.format("ROW_FORMAT=COMPRESSED"), ()),
    ("(a int primary key, b int) engine=ndb partition by key(a) subpartition by hash(b)",
     "ERROR 1500 (HY000): It is only possible to mix RANGE/LIST partitioning with HASH/KEY partitioning for "
     "subpartitioning", ()),
)  # fmt: skip


@pytest.mark.parametrize(("made", "answer", "warned"), SAID)
def test_a_table_and_its_warnings(ask: Ask, made: str, answer: str, warned: tuple[str, ...]) -> None:
    assert ask(f"create table tx {made}").startswith(answer)
    rows = [one for one in ask("show warnings").splitlines() if one.startswith("| Warning |")]
    assert [one.split("|")[3].strip() for one in rows] == list(warned)


SHOWN = (
    ("comment='NDB_TABLE=PARTITION_BALANCE=FOR_RP_BY_LDM'",
     "COMMENT='NDB_TABLE=PARTITION_BALANCE=FOR_RP_BY_LDM'"),
    ("comment='NDB_TABLE=NOLOGGING'", "COMMENT='NDB_TABLE=NOLOGGING' |"),
    ("partition by key(a) (partition x, partition y)",
     "/*!50100 PARTITION BY KEY (a)\n(PARTITION x ENGINE = ndbcluster,\n "
     "PARTITION y ENGINE = ndbcluster) */"),
)  # fmt: skip


@pytest.mark.parametrize(("behind", "shown"), SHOWN)
def test_what_was_typed_is_shown(ask: Ask, behind: str, shown: str) -> None:
    ask(f"create table tx (a int primary key) engine=ndb {behind}")
    assert shown in ask("show create table tx")
    ask("alter table tx add column later int")
    assert shown in ask("show create table tx")
