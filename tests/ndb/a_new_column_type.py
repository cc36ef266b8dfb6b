"""A column type that no version has, as one row; then what the program says of it. Run as a program."""

from __future__ import annotations

from ndbplan.ndb.columns import COLUMN_TYPES, ColumnType, Declared, KeyEncoding, Length, Storage, StoredType


def _stored(_declared: Declared, _features: object) -> StoredType:
    return StoredType(Storage.FIXED, 16)


COLUMN_TYPES["inet6"] = ColumnType(
    "inet6", ("ipv6",), Storage.FIXED, Length.NOTHING, _stored, KeyEncoding.BINARY,
    default_length=16, arrives_in_order="always", api_names=("Inet6",), count_values=lambda _declared: 2**128,
)  # fmt: skip


def main() -> None:
    """Fails with an assertion where a part of the program does not know the type."""
    # Only now: these ask for the types when they are imported, as they do in the program.
    from ndbplan.checks.run import check
    from ndbplan.cli.schemas import plan_schema
    from ndbplan.desktop.inspector.pages import tables as inspector
    from ndbplan.estimate.storage.key_values import most_values
    from ndbplan.estimate.storage.real_keys import distribution_columns
    from ndbplan.estimate.storage.rows import row_layout
    from ndbplan.estimate.stored import memory
    from ndbplan.importing.ddl.into_plan import with_tables
    from ndbplan.importing.ddl.statements import read_ddl
    from ndbplan.importing.ndb_desc_tables import statements_of
    from ndbplan.ndb.keys.hash import distribution_hash
    from ndbplan.ndb.version import NdbVersion
    from ndbplan.plan.file import dumps, loads
    from ndbplan.plan.samples import sample_plan

    version = NdbVersion.parse("8.4")
    text = "CREATE TABLE d.t (a {0} PRIMARY KEY, b {0}, c INT) ENGINE=NDB;"
    (table,) = read_ddl(text.format("IPV6"), version).tables
    (alike,) = read_ddl(text.format("BINARY(16)"), version).tables
    assert [column.type for column in table.columns] == ["inet6", "inet6", "int"]
    described = (
        "-- t --\nVersion: 1\n-- Attributes --\nk Int PRIMARY KEY DISTRIBUTION KEY\nc Inet6 NOT NULL\n"
    )
    assert read_ddl(statements_of(described), version).tables[0].columns[1].type == "inet6"

    assert row_layout(table, version).fixed_words == row_layout(alike, version).fixed_words
    assert most_values(table.columns[0]) == 2**128
    keys = distribution_columns(table)
    assert distribution_hash(keys, [b"\x01"], version) == distribution_hash(
        distribution_columns(alike), [b"\x01"], version
    )

    rows = {"rows": 10_000_000}
    starter = sample_plan("starter")
    plan = with_tables(starter, [table.model_copy(update=rows)])
    same = with_tables(starter, [alike.model_copy(update=rows)])
    assert loads(dumps(plan)) == plan
    check(plan)
    sizes = [next(t for t in memory(p).tables if t.table == "d.t") for p in (plan, same)]
    assert sizes[0].fixed_bytes == sizes[1].fixed_bytes > 48 * 10_000_000
    # It comes in order: the nodes of its index are filled otherwise than those of binary strings.
    assert sizes[0].ordered_index_bytes.value != sizes[1].ordered_index_bytes.value > 0

    assert "inet6" in plan_schema()["$defs"]["Column"]["properties"]["type"]["enum"]
    assert ("inet6", "inet6") in inspector._TYPES


if __name__ == "__main__":
    main()
