"""Several files of several kinds become one plan."""

from __future__ import annotations

import json
import os
from pathlib import Path
from threading import Timer

import pytest

from ndbplan.base.errors import UserError
from ndbplan.exporting.export import render_files
from ndbplan.importing.files import import_files, kind_of, read_file
from ndbplan.importing.imported import FileKindError, Imported
from ndbplan.importing.running import what_runs
from ndbplan.plan import references
from ndbplan.plan.plan import Plan
from ndbplan.plan.references import first_broken
from ndbplan.plan.samples import sample_plan

STARTER = sample_plan("starter")
CONFIG = render_files(STARTER, ["config"])["config.ini"].encode()
SQL = b"""
CREATE TABLE shop.visit (id BIGINT UNSIGNED PRIMARY KEY, page VARCHAR(100) NOT NULL) ENGINE=NDB;
CREATE TABLE shop.orders (id INT PRIMARY KEY, note VARBINARY(50)) ENGINE=NDBCLUSTER;
"""
COUNTED = b"""TABLE_SCHEMA\tTABLE_NAME\tTABLE_ROWS\tAVG_ROW_LENGTH
shop\tvisit\t1200\t60
shop\telsewhere\t5\t60
"""
FIO = json.dumps(
    {
        "fio version": "fio-3.33",
        "global options": {"rw": "write", "bs": "1M", "direct": "1"},
        "jobs": [
            {
                "jobname": "w",
                "job options": {"rw": "write", "bs": "1M"},
                "write": {"bw_bytes": 750_000_000, "iops": 715.0, "io_bytes": 10**9},
                "read": {"bw_bytes": 0, "iops": 0, "io_bytes": 0},
            }
        ],
    }
).encode()


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("config.ini", CONFIG, "config"),
        ("anything", CONFIG, "config"),
        ("broken.ini", b"\x00", "config"),
        ("host.my.cnf", b"[mysqld]\nndbcluster\n", "options"),
        ("schema.sql", SQL, "ddl"),
        ("dump", SQL, "ddl"),
        ("tables.txt", COUNTED, "statistics"),
        ("fio.json", FIO, "measurements"),
    ],
)
def test_what_a_file_is_follows_from_name_and_content(name: str, content: bytes, kind: str) -> None:
    assert kind_of(name, content) == kind


@pytest.mark.parametrize("content", [b"", b"hello", b"\x89PNG\r\n", b"{}"])
def test_other_files_are_refused(content: bytes) -> None:
    with pytest.raises(FileKindError, match="a file"):
        import_files({"a file": content})


def everything() -> Imported:
    """All kinds at once, in an order that is not the one they are read in."""
    return import_files({"t.txt": COUNTED, "s.sql": SQL, "config.ini": CONFIG}, version="8.4")


def test_configuration_tables_and_counts_make_one_plan() -> None:
    done = everything()
    assert first_broken(done.plan) is None
    assert [node.node_id for node in done.plan.data_nodes] == [1, 2]
    assert {table.full_name: table.rows for table in done.plan.tables} == {
        "shop.visit": 1200,
        "shop.orders": 0,
    }
    assert done.accepted
    assert any("elsewhere" in line for line in done.changes)
    assert done.kinds == {"t.txt": "statistics", "s.sql": "ddl", "config.ini": "config"}


def test_tables_are_added_to_a_plan_and_known_ones_keep_their_rows() -> None:
    done = import_files({"s.sql": SQL}, STARTER)
    assert len(done.plan.tables) == len(STARTER.tables) + 1
    orders = done.plan.table("shop.orders")
    assert orders.id == "orders"
    assert orders.rows == STARTER.table("shop.orders").rows
    assert [column.name for column in orders.columns] == ["id", "note"]
    assert done.plan.hosts is STARTER.hosts
    assert done.plan.ndb_version == STARTER.ndb_version


def test_a_measured_disk() -> None:
    done = import_files({"fio.json": FIO}, STARTER, disk_ids=["host-a1-nvme0"])
    assert done.plan.by_id["host-a1-nvme0"].sequential_write_bytes_per_s == pytest.approx(750e6)
    assert done.plan.by_id["host-a1-nvme1"] is STARTER.by_id["host-a1-nvme1"]
    assert done.changes
    with pytest.raises(UserError, match="disk"):
        import_files({"fio.json": FIO}, STARTER)


def test_a_configuration_makes_a_plan_of_its_own() -> None:
    with pytest.raises(FileKindError, match="--into"):
        import_files({"config.ini": CONFIG}, STARTER)


def test_what_is_left_aside_is_said() -> None:
    done = import_files({"a.ini": CONFIG, "b.ini": CONFIG, "h.cnf": b"[mysqld]\n"})
    said = [(f.file, f.severity) for f in done.findings if not f.message.startswith("read for NDB")]
    assert said == [("b.ini", "warning"), ("h.cnf", "warning")]
    assert done.accepted


def test_a_table_that_cannot_be_read_is_said_with_its_line() -> None:
    done = import_files({"s.sql": b"CREATE TABLE ok (a INT PRIMARY KEY);\n\nCREATE TABLE bad (a NOTHING);\n"})
    assert [table.name for table in done.plan.tables] == ["ok"]
    assert {finding.line for finding in done.findings} == {3}


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(UserError, match=r"5\.0"):
        import_files({"s.sql": SQL}, version="5.0")


def test_thousands_of_tables_are_added_in_one_step_and_again_change_nothing() -> None:
    sql = b"".join(b"CREATE TABLE big.t%d (a INT PRIMARY KEY) ENGINE=NDB;" % i for i in range(1500))
    checked: list[Plan] = []

    def stays_whole(before: Plan, after: Plan) -> bool:
        checked.append(after)
        return references.stays_whole(before, after)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ndbplan.plan.plan.stays_whole", stays_whole)
        done = import_files({"s.sql": sql}, STARTER)
    assert len(done.plan.tables) == len(STARTER.tables) + 1500
    assert len(checked) == 1
    assert first_broken(done.plan) is None
    assert import_files({"s.sql": sql}, done.plan).plan is done.plan


def test_a_name_that_comes_twice_in_a_file_is_redefined() -> None:
    sql = b"CREATE TABLE d.t (a INT PRIMARY KEY); CREATE TABLE d.t (b INT PRIMARY KEY);"
    done = import_files({"s.sql": sql})
    assert [(t.full_name, t.primary_key) for t in done.plan.tables] == [("d.t", ("b",))]
    assert [line.split(": ")[1].split(",")[0] for line in done.changes] == ["added"]
    assert any("d.t is there already; this one takes its place" in str(one) for one in done.findings)


def test_long_texts_are_searched_for_tables_only() -> None:
    filler = b"-- nothing of interest\n" * 1_100_000
    assert kind_of("dump.txt", filler + SQL) == "ddl"
    with pytest.raises(FileKindError, match="at most 20 MB"):
        kind_of("log.txt", filler)


def test_what_is_cancelled_reads_no_further() -> None:
    asked = iter([False, False, False])
    done = import_files({"a.sql": SQL, "b.sql": SQL}, cancelled=lambda: next(asked, True))
    assert len(done.kinds) == 2
    assert len(done.plan.tables) < 2


def test_beside_a_configuration_a_lenient_import_makes_a_new_plan() -> None:
    done = import_files({"config.ini": CONFIG, "s.sql": SQL}, sample_plan("telecom-144"), lenient=True)
    assert len(done.plan.data_nodes) == 2


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_files_with_a_byte_order_mark_are_read(encoding: str) -> None:
    texts = {"config.ini": CONFIG, "s.sql": SQL, "t.txt": COUNTED}
    marked = {name: content.decode().encode(encoding) for name, content in texts.items()}
    assert import_files(marked, version="8.4").plan == import_files(texts, version="8.4").plan


def test_plans_are_opened_not_imported() -> None:
    with pytest.raises(FileKindError, match="this is a plan"):
        kind_of("shop.ndbplan", b"{}")


def test_many_blank_lines_do_not_take_ever_longer() -> None:
    """With work that grows by the square of the lines this would take minutes."""
    with pytest.raises(FileKindError):
        kind_of("blank.txt", b"\t\t\n" * 150_000)


def test_mysqld_sections_without_a_host_are_counted() -> None:
    text = "[ndbd default]\nNoOfReplicas=1\n[ndb_mgmd]\nHostName=a\n[ndbd]\nHostName=a\n" + "[mysqld]\n" * 4
    done = import_files({"config.ini": text.encode()}, version="7.4")
    assert any("4 slots for SQL or API nodes" in change for change in done.changes)


def test_a_pipe_is_read_only_by_who_may_wait_for_it(tmp_path: Path) -> None:
    pipe = tmp_path / "config.ini"
    os.mkfifo(pipe)
    with pytest.raises(FileKindError, match="this is not a file"):
        read_file(pipe)
    with pytest.raises(FileKindError, match="this is not a file"):
        what_runs(pipe, sample_plan("starter"))
    # Whoever writes into it is there already.
    end = os.open(pipe, os.O_RDWR)
    os.write(end, b"[ndbd default]\n")
    Timer(0.2, os.close, [end]).start()
    assert read_file(pipe, of_a_pipe=True) == b"[ndbd default]\n"
