from __future__ import annotations

import calendar
import io
import random
from pathlib import Path

import numpy as np
import pytest

from ndbplan.base.compiled import CompiledCode
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.hash import column_bytes, distribution_hash
from ndbplan.ndb.keys.many import prepare as keyprepare
from ndbplan.ndb.keys.many import text as keytext
from ndbplan.ndb.keys.many.rows import split_rows
from ndbplan.ndb.keys.many.text import Chunk, KeyFileError, fault_text, hashed_rows
from ndbplan.ndb.keys.values import KeyValueError
from ndbplan.ndb.version import NdbVersion

V71, V74, V84 = (NdbVersion.parse(v) for v in ("7.1", "7.4.10", "8.4.8"))
C = KeyColumn


def _text(random_: random.Random, letters: str, most: int) -> str:
    return "".join(random_.choice(letters) for _ in range(random_.randrange(most + 1)))


def _values(column: KeyColumn, random_: random.Random) -> str:
    kind = column.type
    if kind in ("tinyint", "smallint", "mediumint", "int", "bigint"):
        bits = {"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}[kind]
        low = 0 if column.unsigned else -(2 ** (bits - 1))
        return str(random_.choice([low, low + 2**bits - 1, random_.randrange(low, low + 2**bits), 0]))
    if kind == "year":
        return str(random_.choice([0, 1901, 2155, 2024]))
    if kind == "decimal":
        digits = (column.length or 10) - (column.scale or 0)
        number = random_.randrange(-(10**digits) + 1, 10**digits)
        fraction = random_.randrange(10 ** (column.scale or 0))
        return f"{number}.{fraction:0{column.scale or 1}d}" if column.scale else str(number)
    if kind in ("date", "datetime", "timestamp"):
        day = f"{random_.randrange(1971, 2037)}-{random_.randrange(1, 13):02d}-{random_.randrange(1, 29):02d}"
        if kind == "date":
            return day
        clock = f"{random_.randrange(24):02d}:{random_.randrange(60):02d}:{random_.randrange(60):02d}"
        part = f".{random_.randrange(10**column.length):0{column.length}d}" if column.length else ""
        return f"{day} {clock}{part}"
    if kind == "time":
        part = f".{random_.randrange(10**column.length):0{column.length}d}" if column.length else ""
        sign = random_.choice(["", "-"])
        minute, second = random_.randrange(60), random_.randrange(60)
        return f"{sign}{random_.randrange(839):02d}:{minute:02d}:{second:02d}{part}"
    if kind in ("binary", "varbinary"):
        return "0x" + random_.randbytes(random_.randrange((column.length or 1) + 1)).hex()
    if kind == "enum":
        return random_.choice([*column.members, "1"])
    if kind in ("double", "bit"):
        return str(random_.randrange(256))
    assert column.collation
    letters = "aAbz09 _-" if column.collation.startswith("ascii") else "aAbzÄäßé09 _-ñ"
    if column.collation.startswith("utf8"):
        letters += "ŐЖж漢한ﬁ①\u0301"
    if column.collation.startswith("utf8mb4"):
        letters += "😀𝒜"
    return _text(random_, letters, column.length or 1)


COLUMNS = [
    *(
        C("k", kind, unsigned=unsigned)
        for kind in ("tinyint", "smallint", "mediumint", "int", "bigint")
        for unsigned in (False, True)
    ),
    C("k", "year"),
    *(C("k", "decimal", p, s) for p, s in ((10, 2), (9, 0), (65, 30), (18, 9), (5, 5), (20, 3))),
    # With these there is a group of each number of digits.
    *(C("k", "decimal", p, s) for p, s in ((7, 6), (11, 7))),
    C("k", "date"),
    *(C("k", kind, n) for kind in ("time", "datetime", "timestamp") for n in (0, 1, 3, 6)),
    C("k", "binary", 16),
    C("k", "varbinary", 10),
    *(C("k", "varbinary", length) for length in (255, 256, 300)),
    C("k", "double"),
    C("k", "bit", 12),
    C("k", "enum", members=("a", "b", "c")),
    *(
        C("k", kind, 24, collation=collation)
        for kind in ("char", "varchar")
        for collation in (
            "latin1_swedish_ci", "latin1_general_ci", "latin1_bin", "ascii_general_ci", "utf8mb3_general_ci",
            "utf8mb3_bin", "utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_unicode_ci",
            "utf8mb4_unicode_520_ci", "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_ci", "utf8mb4_0900_as_cs",
            "utf8mb4_0900_bin",
        )
    ),
    C("k", "varchar", 300, collation="latin1_swedish_ci"),
    C("k", "varchar", 12, collation="utf16_general_ci"),
]  # fmt: skip


def _hashes(content: str, columns: list[KeyColumn], version: NdbVersion) -> list[int]:
    found: list[int] = []
    for chunk in hashed_rows(io.BytesIO(content.encode()), columns, version):
        assert not chunk.faults.any(), fault_text(int(chunk.faults.max()), columns)
        found += chunk.hashes.tolist()
    return found


@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: f"{c.type}-{c.length}-{c.collation or c.unsigned}")
def test_compiled_and_plain_hash_agree(column: KeyColumn) -> None:
    random_ = random.Random(str(column))
    values = [_values(column, random_) for _ in range(60)]
    quoted = ['"' + value.replace('"', '""') + '"' for value in values]
    expected = [distribution_hash((column,), (value,), V84) for value in values]
    assert _hashes("k\n" + "\n".join(quoted), [column], V84) == expected


@pytest.mark.parametrize("kind", ["time", "datetime", "timestamp"])
def test_old_temporal_types_agree(kind: str) -> None:
    column = C("k", kind)
    random_ = random.Random(kind)
    values = [_values(column, random_) for _ in range(40)]
    expected = [distribution_hash((column,), (value,), V71) for value in values]
    assert _hashes("k\n" + "\n".join(values), [column], V71) == expected


def test_composite_keys_with_lengths_of_their_own_in_any_field_order() -> None:
    columns = [C("a", "int"), C("b", "varbinary", 20), C("c", "varchar", 8, collation="latin1_bin")]
    random_ = random.Random(5)
    rows = [tuple(_values(column, random_) for column in columns) for _ in range(300)]
    lines = [f'{c},x,{a},"{b}"' for a, b, c in rows]
    expected = [distribution_hash(columns, row, V84) for row in rows]
    assert _hashes("C,other,A,b\r\n" + "\r\n".join(lines) + "\r\n", columns, V84) == expected


def test_rows_that_span_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keytext, "CHUNK_BYTES", 37)
    lines = [f'"line\n{i}",{i}' for i in range(200)]
    column = C("k", "int")
    expected = [distribution_hash((column,), (i,), V84) for i in range(200)]
    assert _hashes("text,k\n" + "\n".join(lines), [column], V84) == expected


def test_a_bad_key_is_told_and_the_rest_is_kept() -> None:
    columns = [C("id", "tinyint"), C("d", "date")]
    content = b"id,d\n1,2024-01-01\n300,2024-01-01\nx,2024-01-01\n2,2024-1x\n3\n"
    (chunk,) = hashed_rows(io.BytesIO(content), columns, V84)
    assert [fault_text(f, columns) if f else "" for f in chunk.faults.tolist()] == [
        "",
        "id: outside the range of the column",
        "id: not a number",
        "d: no date of the form YYYY-MM-DD",
        "d: no value: NULL (\\N), quotes not closed or with text behind them, or too few fields in the row",
    ]


STRINGS = [
    C("k", kind, 5, collation=collation)
    for kind in ("char", "varchar")
    for collation in ("latin1_swedish_ci", "utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_0900_as_cs",
                      "utf16_general_ci", "gbk_bin")
]  # fmt: skip


def _compiled(column: KeyColumn, text: str) -> int | None:
    (chunk,) = hashed_rows(io.BytesIO(f'k\n"{text}"\n'.encode()), [column], V84)
    return None if chunk.faults[0] else int(chunk.hashes[0])


def _plain(column: KeyColumn, value: object) -> int | None:
    try:
        return distribution_hash((column,), (value,), V84)
    except KeyValueError:
        return None


@pytest.mark.parametrize("column", STRINGS, ids=lambda c: f"{c.type}-{c.collation}")
def test_a_string_of_too_many_characters_is_refused_and_blanks_too_many_are_cut(column: KeyColumn) -> None:
    """CHAR(5) and VARCHAR(5) hold 5 characters, however many bytes these may take (manual, CHAR)."""
    for text in ("abcdef", "abcdefghijklmnop", "ab     c", "      a"):
        assert _plain(column, text) is None
        assert _compiled(column, text) is None
    for text, stored in (("abcde      ", "abcde"), ("abc" + 40 * " ", "abc  "), (30 * " ", 5 * " ")):
        assert _plain(column, text) == _plain(column, stored) is not None
        assert _compiled(column, text) == _plain(column, stored)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda c: f"{c.type}-{c.length}-{c.collation or c.unsigned}")
def test_null_is_no_key(column: KeyColumn) -> None:
    assert _plain(column, None) is None
    (chunk,) = hashed_rows(io.BytesIO(b"k\n\\N\n"), [column], V84)
    assert chunk.faults[0]


@pytest.mark.parametrize("collation", ["utf8mb3_general_ci", "utf8mb3_bin", "utf8mb3_unicode_ci"])
def test_characters_above_ffff_are_no_text_of_three_bytes(collation: str) -> None:
    column = C("k", "varchar", 9, collation=collation)
    assert _compiled(column, "a😀") is None is _plain(column, "a😀")


@pytest.mark.parametrize("collation", ["utf8mb4_general_ci", "utf8mb4_bin", "utf8mb4_0900_ai_ci"])
@pytest.mark.parametrize("row", [b"a\xffb", b'"abc', b"\xed\xa0\x80"])
def test_what_is_no_text_has_no_partition(collation: str, row: bytes) -> None:
    (chunk,) = hashed_rows(io.BytesIO(b"k\n" + row), [C("k", "varchar", 9, collation=collation)], V84)
    assert chunk.faults[0]


_LETTERS = "aA ß\"',\n0xÄÿé€😀\u0301ﬁ漢한ſİς\u200b\x00"
_NUMBERS = (
    "", "0", "-0", "+5", "-1", "127", "128", "-129", "255", "256", "65536", "8388608", "16777216",
    "4294967296", "18446744073709551615", "18446744073709551616", "-9223372036854775809", "1.0", ".5",
    "1_0", " 7 ", "1900",
    "٣", "nan", "99999.999", "-.01",
)  # fmt: skip


def _hostile(column: KeyColumn, random_: random.Random) -> str:
    """A value that the column may well refuse."""
    pick = random_.choice
    if column.type in ("char", "varchar"):
        most = column.length or 1
        if random_.random() < 0.2:
            return "0x" + random_.randbytes(random_.randrange(2 * most)).hex()
        text = "".join(pick(_LETTERS) for _ in range(pick([0, 2, most, most + 1])))
        return text + " " * pick([0, 1, most])
    if column.type in ("date", "time", "datetime", "timestamp"):
        day = f"{pick([0, 1969, 2024, 2038]):04d}-{random_.randrange(14):02d}-{random_.randrange(33):02d}"
        clock = f"{pick(['', '-'])}{pick([0, 23, 24, 838]):02d}:{random_.randrange(61):02d}:07"
        part = pick(["", ".", ".5", ".25", ".1200000", ".1234567"])
        return {"date": day, "time": clock + part}.get(column.type, f"{day}{pick(' T')}{clock}{part}")
    return pick(_NUMBERS)


@pytest.mark.parametrize(
    "column",
    [*COLUMNS, *STRINGS, C("k", "decimal", 8, 3, unsigned=True)],
    ids=lambda c: f"{c.type}-{c.length}-{c.collation or c.unsigned}",
)
def test_compiled_and_plain_refuse_the_same(column: KeyColumn) -> None:
    random_ = random.Random(str(column))
    values = [_hostile(column, random_) for _ in range(150)]
    quoted = ['"' + value.replace('"', '""') + '"' for value in values]
    found: list[int | None] = []
    for chunk in hashed_rows(io.BytesIO(("k\n" + "\n".join(quoted)).encode()), [column], V84):
        both = zip(chunk.hashes.tolist(), chunk.faults.tolist(), strict=True)
        found += [None if fault else hash_ for hash_, fault in both]
    assert found == [_plain(column, value) for value in values]


def test_a_quoted_backslash_n_is_text() -> None:
    column = C("k", "varchar", 5, collation="latin1_bin")
    assert _compiled(column, "\\N") == _plain(column, "\\N") is not None


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (C("k", "timestamp"), "2023-02-30 00:00:00"),
        (C("k", "timestamp"), "2023-02-29 00:00:00"),
        (C("k", "timestamp"), "2038-01-19 03:14:08"),
        (C("k", "timestamp"), "1969-12-31 23:59:59"),
        (C("k", "decimal", 6, 2, unsigned=True), "-0.01"),
    ],
)
def test_values_that_no_column_holds_are_refused_by_both(column: KeyColumn, text: str) -> None:
    assert _plain(column, text) is None
    assert _compiled(column, text) is None


@pytest.mark.parametrize(
    ("column", "text"),
    [
        (C("k", "timestamp"), "2038-01-19 03:14:07"),
        (C("k", "timestamp"), "2024-02-29 12:00:00"),
        (C("k", "decimal", 6, 2, unsigned=True), "-0.00"),
    ],
)
def test_the_last_values_that_a_column_holds(column: KeyColumn, text: str) -> None:
    assert _compiled(column, text) == _plain(column, text) is not None


def test_members_that_differ_in_case_only_are_told_apart() -> None:
    column = C("k", "enum", collation="latin1_bin", members=("a", "A"))
    assert [column_bytes(column, text, V84) for text in ("a", "A")] == [b"\x01", b"\x02"]
    assert _plain(C("k", "enum", collation="latin1_bin", members=("a", "b")), "B") is None
    assert column_bytes(C("k", "set", members=("x", "Y")), "y,X", V84) == b"\x03"


@pytest.mark.parametrize("header", [b"", b"\n", b"x,y\n", b"\xff\xfe\n"])
def test_a_header_without_the_key_is_refused(header: bytes) -> None:
    with pytest.raises(KeyFileError) as caught:
        list(hashed_rows(io.BytesIO(header + b"1\n"), [C("id", "int")], V84))
    assert caught.value.fix


def test_no_rows_at_all() -> None:
    assert list(hashed_rows(io.BytesIO(b"id\n"), [C("id", "int")], V84)) == []


def test_what_was_hashed_once_is_known_to_be_prepared(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    code = CompiledCode("keys", [])
    monkeypatch.setattr(keyprepare, "code", lambda: code)
    columns = [C("id", "int"), C("b", "varbinary", 4)]
    assert not keytext.is_prepared(columns)
    list(hashed_rows(io.BytesIO(b"id,b\n1,0x00\n"), columns, V84))
    assert keytext.is_prepared(columns)
    assert not keytext.is_prepared([C("d", "date")])


@pytest.mark.parametrize("row", [b'"a"b\n', b'"a\\"b"\n', b'"a" "b"\n'])
def test_text_behind_quotes_is_no_key(row: bytes) -> None:
    column = C("k", "varchar", 5, collation="latin1_bin")
    (chunk,) = hashed_rows(io.BytesIO(b"k,x\n" + row), (column,), V84)
    assert chunk.faults.all()
    (blank,) = hashed_rows(io.BytesIO(b'k\n"a" \r\n'), (column,), V84)
    assert not blank.faults.any()


def test_a_header_that_names_a_key_column_twice_is_refused() -> None:
    with pytest.raises(KeyFileError, match="twice"):
        list(hashed_rows(io.BytesIO(b"id,ID\n1,2\n"), (C("id", "int"),), V84))


def test_bits_as_the_server_writes_them() -> None:
    texts = (b"5", b"b'101'", b"B'0101'", b"0b101", b"0x05")
    (chunk,) = hashed_rows(io.BytesIO(b"k\n" + b"\n".join(texts) + b"\n"), (C("k", "bit", 12),), V84)
    assert not chunk.faults.any()
    assert len(set(chunk.hashes.tolist())) == 1


def test_answers_hold_every_length_of_row_hash_bucket_and_partition() -> None:
    """Rows are copied in pieces and digits written in groups: their edges, and the end of the file."""
    hashes = [0, 9, 10, 9_999, 10_000, 99_999_999, 100_000_000, 100_000_001, 4_294_967_295, 1_000_010_000]
    hashes += [7] * 40
    rows = ["a" * length for length in range(1, len(hashes) + 1)]
    data = "\n".join(rows).encode()
    ends, at = [], 0
    for row in rows:
        ends.append((at, at + len(row)))
        at += len(row) + 1
    faults = np.zeros(len(rows), dtype=np.int32)
    faults[4] = 17
    owners = np.arange(23_040, dtype=np.int64) % 12_345
    chunk = Chunk(
        np.frombuffer(data, dtype=np.uint8), np.array(ends), np.array(hashes, dtype=np.uint32), faults, 0
    )
    written = bytes(chunk.answers(owners)).decode().splitlines()
    for row, value, faulty, line in zip(rows, hashes, faults, written, strict=True):
        bucket = value % len(owners)
        assert line == (f"{row},,," if faulty else f"{row},{value},{bucket},{owners[bucket]}")


def test_a_chunk_gives_the_beginning_of_any_of_its_rows() -> None:
    (chunk,) = hashed_rows(io.BytesIO(b"id,t\n1,abc\n22,d\n333,efghi\n"), [C("id", "int")], V84)
    assert chunk.texts(np.array([2, 0, 1]), 6).tolist() == [b"333,ef", b"1,abc", b"22,d"]


def test_what_lies_behind_the_last_byte_is_no_part_of_a_field() -> None:
    data = np.frombuffer(b'1,"",', dtype=np.uint8)
    starts, lengths = np.empty((2, 4), dtype=np.int64), np.empty((2, 4), dtype=np.int64)
    quoted, ends = np.empty((2, 4), dtype=np.uint8), np.empty((4, 2), dtype=np.int64)
    found = split_rows(data, 2, np.array([0, 1]), True, starts, lengths, quoted, ends)
    assert found == (1, 2)
    assert (lengths[:, 0].tolist(), quoted[:, 0].tolist(), ends[0].tolist()) == ([1, 0], [0, 0], [0, 2])


@pytest.mark.parametrize("year", [1972, 2000, 2023])
def test_every_month_of_a_timestamp_has_its_days(year: int) -> None:
    lasts = [f"{year}-{month:02d}-{calendar.monthrange(year, month)[1]}" for month in range(1, 13)]
    nexts = [f"{day[:-2]}{int(day[-2:]) + 1}" for day in lasts]
    content = "\n".join(["d", *(f"{day} 00:00:00" for day in (*lasts, *nexts)), ""]).encode()
    (chunk,) = hashed_rows(io.BytesIO(content), [C("d", "timestamp")], V84)
    assert [bool(fault) for fault in chunk.faults] == [False] * 12 + [True] * 12
