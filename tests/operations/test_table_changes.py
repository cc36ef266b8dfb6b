"""Tables of two plans: what NDB changes online, in the words of each release, and what not."""

from __future__ import annotations

from typing import Any

import pytest

from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parts import set_plan, update
from ndbplan.estimate.estimation import Estimation
from ndbplan.ndb.accounts import accounts
from ndbplan.ndb.version import NdbVersion
from ndbplan.operations.add_nodes import add_nodes
from ndbplan.operations.change import change
from ndbplan.operations.commands import Sql
from ndbplan.operations.operation import Times
from ndbplan.operations.table_changes import alter, left_to_people, table_steps
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column, Index, Table

STARTER = sample_plan("starter")
DISK = sample_plan("disk-data-8.4")
UNTIMED = Times(Estimation(STARTER), known=False)
ORDERS = STARTER.tables[2]
NOTE = Column(name="note", type="varchar", length=40)


def with_columns(*columns: Column) -> dict[str, Any]:
    return {"columns": (*ORDERS.columns, *columns)}


def altered(plan: Plan, old: Table = ORDERS, **changed: Any) -> tuple[str, ...]:
    found = alter(plan, old, old.model_copy(update=changed), plan)
    return (*found.statements, *(f"refused: {why.partition(':')[0]}" for why in found.refused))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"rows": 5, "assumed": ("rows",)}, ()),
        (with_columns(NOTE), ("ADD COLUMN `note` VARCHAR(40) NULL COLUMN_FORMAT DYNAMIC",)),
        (
            with_columns(NOTE.model_copy(update={"nullable": False})),
            ("refused: column note cannot be added online",),
        ),
        (
            with_columns(Column(name="doc", type="json")),
            ("refused: column doc cannot be added online",),
        ),
        (
            {"columns": (*ORDERS.columns[:-1], NOTE, ORDERS.columns[-1])},
            ("refused: columns are in another order",),
        ),
        ({"columns": ORDERS.columns[:-1]}, ("refused: column total goes",)),
        (
            {"columns": (*ORDERS.columns[:-1], ORDERS.columns[-1].model_copy(update={"length": 14}))},
            ("refused: column total has another length",),
        ),
        (
            {"indexes": (Index(name="u", columns=("status",), kind="unique_hash"),)},
            ("DROP INDEX `by_customer`", "ADD UNIQUE INDEX `u` (`status`) USING HASH"),
        ),
        ({"read_backup": False}, ("COMMENT='NDB_TABLE=READ_BACKUP=0'",)),
        ({"max_rows": 10**9}, ("refused: MAX_ROWS changes",)),
        ({"partitions": 8}, ("refused: its number of partitions changes",)),
    ],
)  # fmt: skip
def test_what_is_done_online(changed: dict[str, Any], expected: tuple[str, ...]) -> None:
    start = "ALTER TABLE `shop`.`orders` ALGORITHM=INPLACE, "
    wanted = tuple(one if one.startswith("refused") else f"{start}{one};" for one in expected)
    assert altered(STARTER, **changed) == wanted


def test_words_of_older_releases() -> None:
    old = set_plan(STARTER, ndb_version="7.4")
    assert altered(old, **with_columns(NOTE))[0].startswith("ALTER ONLINE TABLE `shop`.`orders` ADD COLUMN")
    made = ORDERS.model_copy(update={"max_rows": 10**6})
    assert altered(old, made, max_rows=10**8) == ("ALTER ONLINE TABLE `shop`.`orders` MAX_ROWS=100000000;",)
    assert altered(old, read_backup=False) == ()


def test_files_of_disk_data_are_added_and_never_resized() -> None:
    space, group = DISK.tablespaces[0], DISK.logfile_groups[0]
    files = (
        space.data_files[0].model_copy(update={"size_bytes": 2**29}),
        space.data_files[0].model_copy(update={"name": "more.dat", "count": 1}),
    )
    after = DISK.replace(tablespaces=(space.model_copy(update={"data_files": files}), *DISK.tablespaces[1:]))
    [step] = table_steps(UNTIMED, DISK, after)
    made = [one for command in step.commands if isinstance(command, Sql) for one in command.statements]
    assert len(made) == 1
    assert made[0].startswith(f"ALTER TABLESPACE `{space.name}` ADD DATAFILE ")
    assert "more.dat' INITIAL_SIZE" in made[0]
    assert not made[0].endswith("NDBCLUSTER;"), "8.4 warns about ENGINE (1681)"
    assert any("goes or gets another size" in line for line in left_to_people(DISK, after))
    assert list(table_steps(UNTIMED, DISK.replace(tablespaces=(), logfile_groups=(), tables=()), DISK)) == []
    assert f"LOGFILE GROUP `{group.name}`" not in made[0]


def test_what_a_configuration_says_nothing_of_is_left_alone() -> None:
    bare = STARTER.replace(tables=(), workloads=())
    assert list(table_steps(UNTIMED, bare, STARTER)) == []
    assert list(left_to_people(bare, STARTER)) == [
        "left out: tables. What runs says nothing of them; the part schema makes those that are missing"
    ]


def test_rows_that_move_in_a_change_take_as_long_as_when_nodes_are_added() -> None:
    grown = add_node_group(STARTER)
    planned = change(Estimation(grown), STARTER)
    usual = add_nodes(Estimation(STARTER))
    for key in ("reorganise-1", "reorganise-3"):
        there, here = usual.step(key), planned.step(key)
        assert there is not None
        assert here is not None
        assert here.duration_s is not None
        assert here.duration_s == there.duration_s


@pytest.mark.parametrize(
    ("version", "first", "shared"),
    [
        ("7.4.10", "GRANT USAGE ON *.* TO 'ndb_app'@'%' IDENTIFIED BY {password};", False),
        ("7.5.0", "CREATE USER IF NOT EXISTS 'ndb_app'@'%' IDENTIFIED BY {password};", False),
        ("8.0.17", "CREATE USER IF NOT EXISTS 'ndb_app'@'%' IDENTIFIED BY {password};", False),
        ("8.0.21", "CREATE USER IF NOT EXISTS 'ndb_app'@'%' IDENTIFIED BY {password};", True),
        ("8.0.18", "CREATE USER IF NOT EXISTS 'ndb_app'@'%' IDENTIFIED BY {password};", True),
    ],
)
def test_accounts_by_release(version: str, first: str, shared: bool) -> None:
    app, backup = accounts(NdbVersion.parse(version))
    statements = app.statements(["a_b"])
    assert statements[0] == first
    assert r"GRANT SELECT, INSERT, UPDATE, DELETE ON `a\_b`.* TO 'ndb_app'@'%';" in statements
    assert (statements[-1] == "GRANT NDB_STORED_USER ON *.* TO 'ndb_app'@'%';") == shared
    assert any("PROCESS" in one for one in backup.statements([])) == (version > "7.5.0")


def test_sizes_that_disk_data_is_made_with_are_named_when_they_change() -> None:
    group, space = DISK.logfile_groups[0], DISK.tablespaces[0]
    after = update(update(DISK, group.id, undo_buffer_bytes=2**26), space.id, extent_size_bytes=2**21)
    told = [line for line in left_to_people(DISK, after) if "made anew" in line]
    assert [line.split(" of ")[0] for line in told] == ["left out: UNDO_BUFFER_SIZE", "left out: EXTENT_SIZE"]
    assert not [line for line in left_to_people(DISK, DISK) if "made anew" in line]
