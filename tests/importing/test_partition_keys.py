from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import pytest

from ndbplan.importing.partition_keys import PartitionError, partition_job
from ndbplan.ndb.collations import UnsupportedCollationError
from ndbplan.ndb.version import NdbVersion

LISTS = Path(__file__).parent.parent / "reality" / "clusters" / "partitions"
V84 = NdbVersion.parse("8.4.8")


@pytest.mark.parametrize("path", sorted(LISTS.glob("[78]*.csv")), ids=lambda p: p.stem)
def test_recorded_lists_come_back_with_their_partitions(path: Path) -> None:
    match = re.fullmatch(r"([\d.]+)-(\w+?)-(reorg-)?(\d+)", path.stem)
    assert match
    job = partition_job(
        (LISTS / "tables.sql").read_text(),
        int(match[4]),
        NdbVersion.parse(match[1]),
        grown=(4,) if match[3] else (),
        table=match[2],
    )
    out = io.BytesIO()
    with path.open("rb") as keys:
        summary = job.run(keys, out.write)
    rows = list(csv.reader(io.StringIO(out.getvalue().decode())))
    assert rows[0][-4:] == ["partition", "hash", "bucket", "partition"]
    assert [row[-1] for row in rows[1:]] == [row[-4] for row in rows[1:]]
    assert summary.count.rows == len(rows) - 1
    assert sum(summary.count.partition_rows) == summary.count.rows
    assert summary.count.faulty == 0


def test_a_faulty_key_gets_no_answer_but_its_neighbours_do() -> None:
    job = partition_job("CREATE TABLE t (id INT PRIMARY KEY)", 4, V84)
    out = io.BytesIO()
    summary = job.run(io.BytesIO(b"id\n1\nx\n1\n"), out.write)
    lines = out.getvalue().decode().splitlines()
    assert lines[2] == "x,,,"
    assert lines[1] == lines[3]
    assert (summary.count.rows, summary.count.faulty) == (2, 1)
    assert summary.count.problems == ("row 3: id: not a number",)
    assert summary.count.hot_keys == (("1", 2),)
    assert summary.to_json()["hash_map"] == {"name": "DEFAULT-HASHMAP-3840-4", "buckets": 3840}


def test_a_grown_table_has_its_special_map() -> None:
    grown = partition_job("CREATE TABLE t (id INT PRIMARY KEY)", 12, V84, grown=(8,))
    assert grown.hash_map_name == "HASHMAP-3840-8-12"


@pytest.mark.parametrize(
    "arguments",
    [
        {"ddl": "SELECT 1", "partitions": 4},
        {"ddl": "CREATE TABLE a (x INT PRIMARY KEY); CREATE TABLE b (x INT PRIMARY KEY)", "partitions": 4},
        {"ddl": "CREATE TABLE a (x INT PRIMARY KEY)", "partitions": 0},
        {"ddl": "CREATE TABLE a (x INT PRIMARY KEY)", "partitions": 4, "grown": (8,)},
        {"ddl": "CREATE TABLE a (x INT PRIMARY KEY)", "partitions": 9000},
        {"ddl": "CREATE TABLE a (x INT PRIMARY KEY)", "partitions": 4, "buckets": 10**6},
    ],
)
def test_what_cannot_be_done_is_said(arguments: dict[str, object]) -> None:
    with pytest.raises(PartitionError) as caught:
        partition_job(version=V84, **arguments)  # type: ignore[arg-type]
    assert caught.value.fix


def test_a_collation_without_weights_is_never_answered_key_by_key() -> None:
    ddl = "CREATE TABLE t (k VARCHAR(9) COLLATE utf8mb4_sv_0900_ai_ci PRIMARY KEY)"
    job = partition_job(ddl, 4, V84)
    keys = "k\n" + "\n".join(f"key{i}" for i in range(400))
    with pytest.raises(UnsupportedCollationError, match="not supported exactly"):
        job.run(io.BytesIO(keys.encode()), io.BytesIO().write)
    found = job.run(io.BytesIO(keys.encode())).to_json()
    assert not found["exact"]
    assert "not supported exactly" in found["note"]
    assert [p["rows"] for p in found["partitions"]] == [100, 100, 100, 100]


@pytest.mark.parametrize(("partitions", "exact"), [(4, True), (16, True), (6, False), (32, False)])
def test_before_hash_maps_only_powers_of_two_are_answered(partitions: int, *, exact: bool) -> None:
    # 6.3 took the remainder or a linear hash (Dbdih, NORMAL_HASH and LINEAR_HASH), which agree only there.
    text, version = "CREATE TABLE t (id INT PRIMARY KEY)", NdbVersion.parse("6.3")
    if not exact:
        with pytest.raises(PartitionError, match="not supported exactly"):
            partition_job(text, partitions, version)
        return
    out = io.BytesIO()
    partition_job(text, partitions, version).run(io.BytesIO(b"id\n1\n2\n3\n"), out.write)
    for line in out.getvalue().decode().splitlines()[1:]:
        _, key_hash, _, partition = line.split(",")
        assert int(partition) == int(key_hash) % partitions
