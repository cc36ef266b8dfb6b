"""Exact partitions of keys: `partition`, and `distribute --keys`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

INT = "CREATE TABLE t (id INT PRIMARY KEY) ENGINE=NDB"
BIGINT = "CREATE TABLE t (id BIGINT PRIMARY KEY) ENGINE=NDB"


def rows(text: str) -> list[list[str]]:
    """CSV without quoting as lists."""
    return [line.split(",") for line in text.splitlines()]


def test_known_vectors(call: Any) -> None:
    done = call("partition", "--ddl", INT, "--partitions", 8, stdin="id\n0\n1\n2\n1000000\n-1\n")
    assert done.code == 0
    assert done.err == ""
    assert rows(done.out) == [
        ["id", "hash", "bucket", "partition"],
        ["0", str(0x91F4C8BC), "1212", str(1212 % 8)],
        ["1", str(0x47E01A6B), "1643", str(1643 % 8)],
        ["2", str(0xE3095671), "1905", str(1905 % 8)],
        ["1000000", str(0xFA3FE666), "870", str(870 % 8)],
        ["-1", str(0xBBA2AB2B), "2603", str(2603 % 8)],
    ]


def test_an_old_version_has_240_buckets(call: Any) -> None:
    arguments = ("partition", "--ddl", BIGINT, "--partitions", 8)
    old = call(*arguments, "--version", "7.0", stdin="id\n1\n")
    given = call(*arguments, "--buckets", 240, stdin="id\n1\n")
    assert rows(old.out)[1] == rows(given.out)[1] == ["1", str(0x22C03F0F), "79", str(79 % 8)]


def test_a_table_that_has_grown_keeps_rows_where_a_new_one_would_not(call: Any) -> None:
    keys = "id\n" + "\n".join(map(str, range(2000))) + "\n"
    arguments = ("partition", "--ddl", INT, "--partitions", 12)
    grown = [row[-1] for row in rows(call(*arguments, "--grown", "8", stdin=keys).out)[1:]]
    fresh = [row[-1] for row in rows(call(*arguments, stdin=keys).out)[1:]]
    eight = [row[-1] for row in rows(call("partition", "--ddl", INT, "--partitions", 8, stdin=keys).out)[1:]]
    assert grown != fresh
    assert all(now == before or int(now) >= 8 for now, before in zip(grown, eight, strict=True))


def test_other_columns_are_carried_along(call: Any) -> None:
    done = call("partition", "--ddl", INT, "--partitions", 4, stdin='name,id\n"a, b",7\n')
    assert done.out.splitlines()[1].startswith('"a, b",7,')


def test_the_ddl_may_be_a_file(call: Any, tmp_path: Path) -> None:
    path = tmp_path / "my tables.sql"
    path.write_text(f"{INT};\n{BIGINT.replace(' t ', ' u ')};\n")
    done = call("partition", "--ddl", path, "--table", "u", "--partitions", 8, "--json", stdin="id\n1\n2\n")
    shape = done.json("partition")
    assert shape["table"] == "test.u"
    assert shape["rows"] == sum(p["rows"] for p in shape["partitions"]) == 2
    assert shape["hash_map"] == {"name": "DEFAULT-HASHMAP-3840-8", "buckets": 3840}
    assert "--table" in call("partition", "--ddl", path, "--partitions", 8, stdin="id\n").refused()


def test_a_million_keys_take_seconds_and_little_memory(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        f"sys.argv = ['ndbplan', 'partition', '--ddl', {INT!r}, '--partitions', '8', '--json']\n"
        "from ndbplan.cli import main\n"
        "try:\n    main()\nexcept SystemExit as ended:\n    code = ended.code\n"
        # Of this program alone: getrusage also knows how large the one was that started it.
        "peak = [line for line in open('/proc/self/status') if line.startswith('VmHWM')][0]\n"
        "print(peak.split()[1], file=sys.stderr)\nsys.exit(code)"
    )
    keys = tmp_path / "keys.csv"
    keys.write_text("id\n" + "\n".join(map(str, range(1_000_000))) + "\n")
    with keys.open("rb") as stream:
        done = subprocess.run([sys.executable, "-c", code], stdin=stream, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"rows": 1000000' in done.stdout
    assert int(done.stderr.split()[-1]) < 800_000, "kilobytes"


def test_keys_that_cannot_be_read_are_counted_and_the_first_is_named(call: Any) -> None:
    done = call("partition", "--ddl", INT, "--partitions", 8, stdin="id\n1\nx\n99999999999\n2\n")
    assert done.code == 2
    assert [row[0] for row in rows(done.out)] == ["id", "1", "x", "99999999999", "2"]
    assert done.err.count("\n") == 1
    assert "2 rows" in done.err
    assert "row 3" in done.err


@pytest.mark.parametrize(
    ("arguments", "keys", "said"),
    [
        (("--ddl", INT), "id\n1\n", "--partitions"),
        (("--partitions", "8"), "id\n1\n", "--ddl"),
        (("--ddl", "no/such/file.sql", "--partitions", "8"), "id\n1\n", "no/such/file.sql"),
        (("--ddl", "SELECT (1)", "--partitions", "8"), "id\n1\n", "CREATE TABLE"),
        (("--ddl", INT, "--partitions", "0"), "id\n1\n", "--partitions"),
        (("--ddl", INT, "--partitions", "8", "--grown", "16"), "id\n1\n", "--grown"),
        (("--ddl", INT, "--partitions", "8", "--grown", "a,b"), "id\n1\n", "--grown"),
        (("--ddl", INT, "--partitions", "8", "--version", "5.0"), "id\n1\n", "--version"),
        (("--ddl", INT, "--partitions", "8"), "", "missing: id"),
        (("--ddl", INT, "--partitions", "8"), "key\n1\n", "missing: id"),
        (("--ddl", INT, "--partitions", "8"), "x" * 200_000, "first row"),
        (("--ddl", INT, "--partitions", "8", "--table", "u"), "id\n1\n", "u"),
    ],
)
def test_what_cannot_be_answered_is_refused(
    call: Any, arguments: tuple[str, ...], keys: str, said: str
) -> None:
    assert said in call("partition", *arguments, stdin=keys).refused()


# distribute --keys


def test_distribute_counts_real_keys(call: Any, saved: Any, tmp_path: Path) -> None:
    keys = tmp_path / "keys.csv"
    keys.write_text("a\n" + "\n".join(map(str, range(5000))) + "\n")
    done = call("distribute", saved("add-nodes"), "--keys", keys, "--json").json("distribute")
    table = done["tables"][0]
    assert sum(p["rows"] for p in table["partitions"]) == table["keys"]["rows"] == 5000
    listed = call(
        "partition", "--ddl", "CREATE TABLE t1 (a BIGINT UNSIGNED PRIMARY KEY) ENGINE=NDB", "--partitions", 8,
        "--version", "7.0.4", "--json", stdin=keys.read_text(),
    ).json("partition")  # fmt: skip
    assert [p["rows"] for p in table["partitions"]] == [p["rows"] for p in listed["partitions"]]


def test_distribute_with_keys_needs_one_table(call: Any, saved: Any, tmp_path: Path) -> None:
    keys = tmp_path / "keys.csv"
    keys.write_text("order_id\n1\n")
    path = saved("starter")
    assert "--table" in call("distribute", path, "--keys", keys).refused()
    assert call("distribute", path, "--table", "shop.orders", "--keys", keys).code == 0
    assert "none.csv" in call("distribute", path, "--table", "shop.orders", "--keys", "none.csv").refused()
    keys.write_text("order_id\nx\n")
    assert "row 2" in call("distribute", path, "--table", "shop.orders", "--keys", keys).refused()
    keys.write_text("order_id\n1\nx\n2\n")
    done = call("distribute", path, "--table", "shop.orders", "--keys", keys)
    assert done.code == 2
    assert "1 of 3 rows" in done.err
    assert "row 3" in done.err
    assert "PARTITIONS" in done.out
