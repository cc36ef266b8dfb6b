"""The table of column types: complete, and all that a new type needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ndbplan.ndb.columns import (
    COLUMN_TYPES,
    Declared,
    KeyEncoding,
    Storage,
    by_api_name,
    by_ddl_name,
    smallest_that_holds,
)
from ndbplan.ndb.features import features
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.hash import column_bytes
from ndbplan.ndb.version import SERIES, NdbVersion
from ndbplan.simulate.prepare import _KEYS

VALUES = {
    KeyEncoding.BINARY: "0x00", KeyEncoding.VARBINARY: "0x00", KeyEncoding.DATE: "2020-01-01",
    KeyEncoding.TIME: "01:00:00", KeyEncoding.DATETIME: "2020-01-01", KeyEncoding.TIMESTAMP: "2020-01-01",
}  # fmt: skip


def test_a_new_type_is_one_row() -> None:
    """In a process of its own: the row is there before anything asks for types, as those of the table are."""
    script = Path(__file__).with_name("a_new_column_type.py")
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr


def test_every_type_that_can_be_in_a_key_has_an_encoder() -> None:
    for series in SERIES:
        for kind in COLUMN_TYPES.values():
            if kind.key is not None:
                column = KeyColumn("k", kind.name)
                assert column_bytes(column, VALUES.get(kind.key, 0), NdbVersion.parse(series)), kind.name
    assert {kind.key for kind in COLUMN_TYPES.values()} == {*KeyEncoding, None}


def test_no_name_means_two_types() -> None:
    kinds = COLUMN_TYPES.values()
    assert len(by_ddl_name()) == sum(1 + len(kind.ddl_names) for kind in kinds)
    assert len(by_api_name()) == sum(len(kind.api_names) for kind in kinds)
    assert all(name == name.lower() for name in by_ddl_name())


def test_what_a_row_says_twice_agrees() -> None:
    """Whether a type has parts and how it is stored follow from what is stored, in every version."""
    for series in SERIES:
        for kind in COLUMN_TYPES.values():
            stored = kind.stored(Declared(), features(NdbVersion.parse(series)))
            assert stored.storage is kind.storage
            assert (stored.part_bytes > 0) is kind.has_parts
            assert (stored.inline_bytes > 0) is kind.is_blob
            assert kind.integer_bytes in (0, stored.max_bytes)
            assert kind.as_binary is None or COLUMN_TYPES[kind.as_binary].storage is kind.storage
            assert kind.parts_grow <= kind.has_parts


def test_a_blob_with_a_length_is_the_smallest_type_that_holds_it() -> None:
    found = [
        smallest_that_holds(COLUMN_TYPES["text"], count).name
        for count in (0, 255, 256, 65535, 65536, 2**24 - 1, 2**24, 2**32 - 1, 2**32)
    ]
    tiny, middle, medium, long = "tinytext", "text", "mediumtext", "longtext"
    assert found == [tiny, tiny, middle, middle, medium, medium, long, long, long]


def test_keys_compiled_in_advance_are_of_known_types() -> None:
    assert all(COLUMN_TYPES[kind].key is not None for kind, _, _ in _KEYS)
    assert Storage.BLOB not in {COLUMN_TYPES[kind].storage for kind, _, _ in _KEYS}
