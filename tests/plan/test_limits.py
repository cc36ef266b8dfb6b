"""Limits of plan fields: the product's where it has one, ours elsewhere; the message says whose."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ndbplan.edits import parts as edits
from ndbplan.edits.validated import EditError
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


def test_no_edit_makes_a_collection_longer_than_a_file_may_hold() -> None:
    plan = sample_plan("starter")
    one = plan.workloads[0]
    more = tuple(one.model_copy(update={"id": f"w{n}", "name": f"w{n}"}) for n in range(999))
    with pytest.raises(EditError, match="are too many: a plan has at most 1000, a limit of this program"):
        edits.add(plan, *more)
    full = edits.add(plan, *more[: 1000 - len(plan.workloads)])
    assert file.loads(file.dumps(full)) == full


def test_a_plan_too_large_to_be_read_again_does_not_replace_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.ndbplan"
    file.save(sample_plan("starter"), path)
    before = path.read_bytes()
    monkeypatch.setattr(file, "MAX_FILE_BYTES", len(before) - 1)
    with pytest.raises(PlanFileError, match="a plan has at most"):
        file.save(sample_plan("starter"), path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["\ud800", "\ufffe", "a\0b", "x" * 30_000])
def test_text_that_no_file_can_hold_is_refused_wherever_it_stands(text: str) -> None:
    """Every text of a plan in turn: it is refused, or the plan can be saved and read again."""
    document: Any = json.loads(file.dumps(sample_plan("disk-data")))
    document["assumed"] = ["name"]
    document["parameters"]["data_node"]["BackupDataDir"] = "/b"
    lines = []
    for holder, key in list(_texts(document)):
        before, holder[key] = holder[key], text
        try:
            plan = file.from_document(document).main
        except PlanFileError as error:
            lines.append(error.line)
        else:
            assert file.loads(file.dumps(plan).encode().decode()) == plan
        holder[key] = before
    assert len(lines) > 50
    assert max(len(line.encode()) for line in lines) < 1000


def _texts(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place of a document where a text stands: what holds it, and under which key."""
    for key, inside in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inside, str):
            yield value, key
        elif isinstance(inside, dict | list):
            yield from _texts(inside)


def test_a_text_too_long_for_a_parameter_is_not_called_no_number() -> None:
    refused = "ThreadConfig: .*it has 5000 letters; it may have 4096 at most, a limit of this program"
    with pytest.raises(PlanFileError, match=refused):
        file.from_document(_with("parameters.data_node", {"ThreadConfig": "x" * 5000}))
