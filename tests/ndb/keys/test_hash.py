from __future__ import annotations

import csv
import datetime as dt
import io
import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.importing.partition_keys import partition_job
from ndbplan.ndb.collations import (
    UnsupportedCollationError,
    byte_weights,
    general_weights,
    rule_for,
    uca_table,
)
from ndbplan.ndb.keys.column import KeyColumn, KeyTypeError
from ndbplan.ndb.keys.hash import column_bytes, digest, distribution_hash, key_bytes
from ndbplan.ndb.keys.values import KeyValueError
from ndbplan.ndb.placement.hashmap import default_map, reorganised_map
from ndbplan.ndb.version import NdbVersion

LISTS = Path(__file__).parent.parent.parent / "reality" / "clusters" / "partitions"
V71, V74, V84 = (NdbVersion.parse(v) for v in ("7.1", "7.4.10", "8.4.8"))
C = KeyColumn

KEYS = {
    "p_bigu": (C("id", "bigint", unsigned=True),),
    "p_binary16": (C("k", "binary", 16),),
    "p_comp_key_a": (C("a", "int"),),
    "p_datetime": (C("k", "datetime"),),
    "p_int": (C("id", "int"),),
    "p_vc_latin1": (C("k", "varchar", 32, collation="latin1_swedish_ci"),),
    "p_vc_latin1bin": (C("k", "varchar", 32, collation="latin1_bin"),),
    "p_vc_utf8": (C("k", "varchar", 32, collation="utf8mb3_general_ci"),),
    "p_vc_utf8mb4_0900_ai_ci": (C("k", "varchar", 32, collation="utf8mb4_0900_ai_ci"),),
    "p_vc_utf8mb4_bin": (C("k", "varchar", 32, collation="utf8mb4_bin"),),
    "q_decimal": (C("k", "decimal", 10, 2),),
    "q_mediumint": (C("k", "mediumint"),),
    "q_timestamp3": (C("k", "timestamp", 3),),
}
"""Distribution keys of the tables in partitions/tables.sql."""


def recorded_lists() -> list[Path]:
    return sorted(path for path in LISTS.glob("*.csv") if not path.name.startswith("collation"))


def described(path: Path) -> tuple[NdbVersion, tuple[KeyColumn, ...], tuple[int, ...]]:
    """Version, distribution key and hash map of a recorded list."""
    match = re.fullmatch(r"([\d.]+)-(\w+?)-(reorg-)?(\d+)", path.stem)
    assert match
    partitions = int(match[4])
    created = default_map(4 if match[3] else partitions, 3840)
    hash_map = reorganised_map(created, partitions, 3840) if match[3] else created
    return (V74 if match[1] == "7.4" else V84), KEYS[match[2]], hash_map


@pytest.mark.parametrize("path", recorded_lists(), ids=lambda p: p.stem)
def test_recorded_keys_lie_where_the_cluster_put_them(path: Path) -> None:
    version, columns, hash_map = described(path)
    with path.open() as file:
        for row in csv.DictReader(file):
            value = distribution_hash(columns, [row[c.name] for c in columns], version)
            assert hash_map[value % len(hash_map)] == int(row["partition"]), row


VECTORS = [
    ((C("k", "int"),), (0,), "87c3aa01 91f4c8bc 5b734ff3 14681235"),
    ((C("k", "int"),), (1,), "f07e5de3 47e01a6b b276a265 15642e46"),
    ((C("k", "int"),), (2,), "e2493c6f e3095671 1ec34347 601298c1"),
    ((C("k", "int"),), (1000000,), "3519e096 fa3fe666 44b537e7 8df9cb0d"),
    ((C("k", "int"),), (-1,), "e90bbbd2 bba2ab2b 0ee9c096 f14d0757"),
    ((C("k", "bigint"),), (0,), "fc499bf4 0d1af79d 417f657a aceaf3e5"),
    ((C("k", "bigint"),), (1,), "c3a73382 22c03f0f d259d9ba eac0b78c"),
    ((C("k", "bigint"),), (3000000,), "0ae1a578 32a3077e c9ab2ec5 b1da7146"),
    ((C("k", "bigint"),), (-1,), "7f278f79 b57b4cc9 be1fe0a1 79636f86"),
    ((C("k", "varchar", 10, collation="latin1_bin"),), ("abc",), "c3ad2be0 e079c598 31c25f06 48fbc09e"),
    (
        (C("k", "varchar", 10, collation="latin1_swedish_ci"),),
        ("abc",),
        "4cf9c13c 33e79c18 924b0cdc c31ad41b",
    ),
    ((C("k", "varbinary", 10),), (b"abc",), "7f199b38 b4c9806b 18510f19 318845a5"),
    ((C("k", "varbinary", 1000),), (b"abc",), "199f6e93 ffd0ba46 a25e0920 f5f401af"),
    ((C("a", "int"), C("b", "int")), (1, 2), "5b869f8f 5b50e2da 772c7c1c 629fe35d"),
]


@pytest.mark.parametrize(("columns", "values", "expected"), VECTORS)
def test_vectors_made_with_the_product_s_own_function(
    columns: tuple[KeyColumn, ...], values: tuple[object, ...], expected: str
) -> None:
    data = key_bytes(columns, values, V84)
    words = [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]
    assert " ".join(f"{word:08x}" for word in digest(words)) == expected


@pytest.mark.parametrize(
    ("column", "value", "stored"),
    [
        (C("k", "year"), "2024", "7c"),
        (C("k", "year"), 0, "00"),
        (C("k", "date"), "2024-02-29", "5dd00f"),
        (C("k", "time"), "00:00:00", "800000"),
        (C("k", "time"), "-00:00:01", "7fffff"),
        (C("k", "time", 2), "12:34:56.78", "80c8b84e"),
        (C("k", "time", 3), "-12:34:56.780", "7f3747e188"),
        (C("k", "datetime"), "0000-00-00 00:00:00", "8000000000"),
        (C("k", "datetime", 6), "2012-12-31 01:02:03.000456", "998e3e10830001c8"),
        (C("k", "timestamp", 6), "1970-01-01 00:00:01.000002", "00000001000002"),
        (C("k", "decimal", 10, 2), "0.00", "8000000000"),
        (C("k", "decimal", 14, 4), "1234567890.1234", "810dfb38d204d2"),
        (C("k", "decimal", 14, 4), "-1234567890.1234", "7ef204c72dfb2d"),
        (C("k", "bit", 12), "0x0a5f", "5f0a0000"),
        (C("k", "enum", members=("a", "b")), "B", "02"),
        (C("k", "set", members=("a", "b", "c")), "c,a", "05"),
        (C("k", "double"), "1", "000000000000f03f"),
        (C("k", "binary", 4), b"\x01", "01000000"),
    ],
)
def test_stored_bytes(column: KeyColumn, value: object, stored: str) -> None:
    expected = bytes.fromhex(stored)
    assert key_bytes((column,), (value,), V84) == expected + bytes(-len(expected) % 4)


def test_temporal_types_before_7_3() -> None:
    assert key_bytes((C("k", "datetime"),), ("2010-11-12 13:14:15",), V71) == (20101112131415).to_bytes(
        8, "little"
    )
    assert key_bytes((C("k", "time"),), ("-01:02:03",), V71)[:3] == (-10203).to_bytes(
        3, "little", signed=True
    )


@pytest.mark.parametrize(
    ("column", "value"),
    [
        (C("k", "tinyint"), 128),
        (C("k", "tinyint", unsigned=True), -1),
        (C("k", "int"), "12x"),
        (C("k", "decimal", 4, 2), "100"),
        (C("k", "decimal", 4, 2), "1.005"),
        (C("k", "date"), "2024-13-01"),
        (C("k", "datetime"), "2024-01-01 24:00:00"),
        (C("k", "timestamp"), "1969-12-31 23:59:59"),
        (C("k", "time"), "839:00:00"),
        (C("k", "varchar", 3, collation="latin1_bin"), "abcd"),
        (C("k", "varchar", 3, collation="latin1_bin"), "\u4e00"),
        (C("k", "varbinary", 3), "abc"),
        (C("k", "enum", members=("a", "b")), "c"),
        (C("k", "year"), 1900),
    ],
)
def test_values_a_column_cannot_hold_are_refused(column: KeyColumn, value: object) -> None:
    with pytest.raises(KeyValueError) as caught:
        key_bytes((column,), (value,), V84)
    assert "k" in caught.value.line


def test_blobs_are_no_keys() -> None:
    with pytest.raises(KeyTypeError):
        key_bytes((C("k", "text"),), ("x",), V84)


EXACT = [
    "latin1_swedish_ci", "latin1_general_ci", "latin1_bin", "ascii_general_ci", "ascii_bin",
    "utf8_general_ci", "utf8mb3_general_ci", "utf8mb4_general_ci", "utf8mb4_unicode_ci",
    "utf8mb4_unicode_520_ci", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_ci", "utf8mb4_0900_as_cs",
    "utf8mb4_0900_bin", "utf8mb4_bin", "utf8mb3_bin", "gbk_bin", "ucs2_bin", "utf16_bin", "cp1251_bin",
]  # fmt: skip


@pytest.mark.parametrize("collation", EXACT)
def test_exact_collations(collation: str) -> None:
    assert rule_for(collation).collation == collation


@pytest.mark.parametrize(
    "collation",
    ["utf8mb4_cs_0900_ai_ci", "utf8mb4_polish_ci", "latin1_german2_ci", "sjis_japanese_ci", "x_bin"],
)
def test_other_collations_are_never_answered(collation: str) -> None:
    with pytest.raises(UnsupportedCollationError, match="not supported exactly"):
        rule_for(collation)


def _equal_keys() -> list[tuple[str, str]]:
    with (LISTS / "collation-equal-keys-8.4.8.csv").open(encoding="utf-8") as file:
        return [(row["collation"], row["k_hex"]) for row in csv.DictReader(file)]


OTHER_KEYS = ("ß", "1", "１２３", "Α", "Е")
"""Keys of the same lists that are not in the recorded ones."""


@pytest.mark.parametrize("collation", sorted({c for c, _ in _equal_keys()}))
def test_keys_that_a_collation_took_for_equal_share_their_hash(collation: str) -> None:
    """Each was refused as a duplicate of a key of the same list: some other key has its hash."""
    kind = "char" if collation.startswith("char_") else "varchar"
    column = C("k", kind, 32, collation=collation.removeprefix("char_").removeprefix("vc_"))
    others: list[str] = []
    for path in LISTS.glob("8.4-p_vc_utf8mb4*.csv"):
        with path.open() as file:
            others += [row["k"].removeprefix("0x") for row in csv.DictReader(file)]
    hashes: dict[int, set[str]] = {}
    for key in {*others, *(k for _, k in _equal_keys()), *(k.encode().hex() for k in OTHER_KEYS)}:
        hashes.setdefault(distribution_hash((column,), (bytes.fromhex(key),), V84), set()).add(key)
    for name, key in _equal_keys():
        if name == collation:
            found = hashes[distribution_hash((column,), (bytes.fromhex(key),), V84)]
            assert found - {key}, f"{key} has no equal"


@given(st.text(st.characters(codec="latin-1", exclude_categories=["Cc"]), max_size=10), st.integers(0, 3))
def test_trailing_spaces_do_not_matter_in_padded_collations(text: str, spaces: int) -> None:
    for collation in ("latin1_swedish_ci", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_bin"):
        column = C("k", "varchar", 16, collation=collation)
        if collation == "latin1_swedish_ci" and not text.isascii():
            continue
        assert distribution_hash((column,), (text,), V84) == distribution_hash(
            (column,), (text + " " * spaces,), V84
        )


@given(st.text(st.characters(max_codepoint=0x24F, exclude_categories=["Cc"]), max_size=12))
def test_case_does_not_matter_where_the_collation_ignores_it(text: str) -> None:
    for collation in ("utf8mb4_0900_ai_ci", "utf8mb4_0900_as_ci"):
        column = C("k", "varchar", 32, collation=collation)
        lower = "".join(c.lower() if len(c.lower()) == 1 and c.lower().upper() == c else c for c in text)
        assert distribution_hash((column,), (text,), V84) == distribution_hash((column,), (lower,), V84)


@given(st.integers(-(2**63), 2**63 - 1), st.decimals(-999, 999, places=2), st.dates())
def test_text_and_objects_are_the_same_key(number: int, amount: Decimal, day: dt.date) -> None:
    columns = (C("a", "bigint"), C("b", "decimal", 10, 2), C("c", "date"))
    assert key_bytes(columns, (number, amount, day), V84) == key_bytes(
        columns, (str(number), str(amount), day.isoformat()), V84
    )


def test_weights_of_some_characters() -> None:
    # allkeys 9.0.0: LATIN CAPITAL LETTER A, HANGUL SYLLABLE GA; UCA 4.0.0: A.
    def weights(name: str, level: int, point: int) -> list[int]:
        table = uca_table(name, level)
        return table.weights[table.start[point] : table.start[point + 1]].tolist()

    assert [weights("uca900", level, 0x41) for level in (1, 2, 3)] == [[0x1C47], [0x20], [0x08]]
    assert weights("uca900", 1, 0xAC00) == [0x3BF5, 0x3C73]
    assert weights("uca900", 1, 0x4E00) == [0xFB40, 0xCE00]
    assert weights("uca400", 1, 0x41) == [0x0E33]
    assert weights("uca400", 1, 0x1F600) == [0xFFFD]
    assert weights("uca400", 1, 0xFFFF) == [0xFBC1, 0xFFFF]
    assert general_weights()[ord("ß")] == ord("S")


@pytest.mark.parametrize(("version", "filler"), [("7.4", 0x30), ("7.6", 0x30), ("8.4", 0x20)])
def test_latin7_is_padded_as_each_version_pads(version: str, filler: int) -> None:
    # The weight of a space is 0x30 there. NdbSqlUtil::strnxfrm_bug7284 pads with it what strnxfrm left over;
    # from 8.0 on my_strnxfrm_simple leaves nothing over (my_strxfrm_pad), with 0x20.
    column = KeyColumn("k", "varchar", 4, collation="latin7_general_ci")
    weight, *padding = column_bytes(column, "a", NdbVersion.parse(version))
    assert weight == byte_weights("latin7_general_ci")[ord("a")]
    assert padding == [filler] * 3


@pytest.mark.parametrize("version", ["7.4", "8.4", "9.7.4"])
def test_spaces_that_a_char_of_latin7_stores_weigh_what_spaces_do(version: str) -> None:
    """They weighed 0x20 from 8.0 on: partitions of keys of CHAR were wrong."""
    column = KeyColumn("k", "char", 4, collation="latin7_general_cs")
    assert column_bytes(column, "a", NdbVersion.parse(version))[1:] == bytes([0x30]) * 3


def test_keys_of_a_char_of_latin7_lie_where_the_cluster_has_them() -> None:
    """Rows of partitions of CHAR(8) COLLATE latin7_general_cs: MySQL NDB Cluster 9.7.4, seen running."""
    ddl = "CREATE TABLE d.t (k CHAR(8) CHARACTER SET latin7 COLLATE latin7_general_cs PRIMARY KEY) ENGINE=NDB"
    job = partition_job(ddl, 8, NdbVersion.parse("9.7.4"))
    keys = "k\n" + "".join(f"k{number}\n" for number in range(100))
    assert job.run(io.BytesIO(keys.encode())).count.partition_rows == (18, 14, 11, 12, 12, 14, 13, 6)


def test_latin7_is_not_answered_exactly_where_its_padding_is_not_known() -> None:
    column = KeyColumn("k", "varchar", 4, collation="latin7_general_ci")
    with pytest.raises(UnsupportedCollationError, match="not supported exactly before"):
        column.rule(NdbVersion.parse("7.1"))
    latin1 = KeyColumn("k", "varchar", 4, collation="latin1_swedish_ci")
    assert latin1.rule(NdbVersion.parse("7.1")) is not None


def test_korean_text_is_stored_in_two_bytes_a_character() -> None:
    # MySQL's euckr holds the extended syllables too (ctype-euc_kr: 0x81 to 0xFE first); the plain codec of
    # the name would write them in eight bytes.
    column = KeyColumn("k", "varchar", 3, collation="euckr_bin")
    assert column_bytes(column, "가똠", NdbVersion.parse("8.4")) == bytes.fromhex("b0a18c632020")


@pytest.mark.parametrize(("length", "head"), [(255, b"\x03"), (256, b"\x03\x00")])
def test_a_declared_length_above_255_has_two_length_bytes(length: int, head: bytes) -> None:
    """However long the value is (NDB source: longvarchar)."""
    assert column_bytes(C("k", "varbinary", length), b"abc", V84) == head + b"abc"
