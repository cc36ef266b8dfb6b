"""Limits of plan fields: the product's where it has one, ours elsewhere; the message says whose."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ndbplan.ndb import parameters as catalogue
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan import file
from ndbplan.plan.file import PlanFileError
from ndbplan.plan.plan import NDB_TABLES
from ndbplan.plan.samples import sample_plan


def _with(path: str, value: Any) -> dict[str, Any]:
    document: Any = json.loads(file.dumps(sample_plan("disk-data")))
    here, steps = document, path.split(".")
    for step in steps[:-1]:
        here = here[int(step) if step.isdigit() else step]
    here[int(steps[-1]) if steps[-1].isdigit() else steps[-1]] = value
    return document


@pytest.mark.parametrize(
    ("path", "inside", "outside", "whose"),
    [
        ("processes.0.node_id", 255, 256, "NDB"),
        ("processes.1.node_group", 65536, 65537, "NDB"),
        ("tables.0.partitions", 8160, 8161, "NDB"),
        ("hosts.0.cores", 4096, 4097, "this program"),
        ("hosts.0.clock_ghz", 20, 21, "this program"),
        ("hosts.0.network_bytes_per_s", 1, 1e-9, "this program"),
        ("hosts.0.disks.0.sequential_write_bytes_per_s", 1, 1e-9, "this program"),
        ("hosts.0.disks.0.random_read_iops", 1, 1e-9, "this program"),
        ("tables.0.rows", 10**15, 10**15 + 1, "this program"),
        ("workloads.0.transactions.0.weight", 1e-6, 1e-300, "this program"),
    ],
)
def test_the_refusal_says_whose_limit_it_is(path: str, inside: Any, outside: Any, whose: str) -> None:
    file.from_document(_with(path, inside))
    with pytest.raises(PlanFileError, match=f"a limit of {whose}"):
        file.from_document(_with(path, outside))


def test_a_number_below_nothing_is_nobodys_limit() -> None:
    with pytest.raises(PlanFileError) as refused:
        file.from_document(_with("tables.0.rows", -1))
    assert "a limit of" not in refused.value.line


@pytest.mark.parametrize(
    ("kind", "most"),
    [
        ("char", 65535), ("binary", 65535), ("varchar", 65535), ("varbinary", 65535), ("decimal", 65),
        ("bit", 64), ("timestamp", 6), ("enum", 65535), ("set", 64), ("blob", 2**32 - 1), ("int", 2**32 - 1),
    ],
)  # fmt: skip
def test_lengths_end_where_sql_ends(kind: str, most: int) -> None:
    assert COLUMN_TYPES[kind].most_length == most
    name = sample_plan("disk-data").tables[0].columns[1].name
    file.from_document(_with("tables.0.columns.1", {"name": name, "type": kind, "length": most}))
    with pytest.raises(PlanFileError, match=r"a limit of (NDB|this program)"):
        file.from_document(_with("tables.0.columns.1", {"name": name, "type": kind, "length": most + 1}))


@pytest.mark.parametrize("path", ["hosts.0.cores", "hosts.0.sockets", "hosts.0.network_bytes_per_s"])
def test_none_where_one_is_needed_is_nobodys_limit(path: str) -> None:
    with pytest.raises(PlanFileError, match="0 is refused: it must be 1 or more") as refused:
        file.from_document(_with(path, 0))
    assert "a limit of" not in refused.value.line


def test_as_many_tables_as_the_product_can_hold() -> None:
    most = catalogue.parameter("DB", "MaxNoOfTables", NdbVersion.parse("8.4")).maximum
    assert most == NDB_TABLES
