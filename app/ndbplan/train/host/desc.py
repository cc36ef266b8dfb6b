"""ndb_desc: columns and indexes of a table, and what each partition holds.

Forms: running 8.4.8 and 7.4.10 clusters; options of a table: manual, ndb_desc; foreign keys: the product's
NdbDictionary.cpp, and "Pro MySQL NDB Cluster", listing 18-10. How long the frm data or the dictionary of a
server is stays 0, as of a table without one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ndbplan.estimate.load.disk_data import reads_backup
from ndbplan.estimate.stored import distribute
from ndbplan.ndb.console import form
from ndbplan.ndb.rows import FIXED_PAGE_WORDS, PAGE_BYTES, WORD_BYTES
from ndbplan.plan.hardware import Host
from ndbplan.plan.tables import PartitionBalance, Table
from ndbplan.train.answer import Answer
from ndbplan.train.api_columns import HIDDEN_KEY, ApiColumn, balance_of, columns_of
from ndbplan.train.host.connecting import CONNECTING, unreached
from ndbplan.train.host.desc_space import described
from ndbplan.train.host.options import read_words
from ndbplan.train.live import LiveCluster
from ndbplan.train.object_ids import Thing, first_map, things_of
from ndbplan.train.schema import partitions_of
from ndbplan.train.space import fragment_space
from ndbplan.train.system_tables import SystemObject, system_objects, system_partitions

_ALTERED = 1 << 24
"""What a change online adds to the version of a table [8.4.8]; that of columns is not counted here."""
_VALUES = ("-d --database", "-t --table", "-r --retries", *CONNECTING)
_FLAGS = ("-p --extra-partition-info", "-n --extra-node-info", "-u --unqualified")


class _Told(NamedTuple):
    """What is printed of a table."""

    name: str
    columns: Sequence[ApiColumn]
    max_rows: int
    variable: int
    """ForceVarPart: a server makes its tables so."""
    partitions: int
    fragments: int
    balance: str
    options: Sequence[str]
    hash_map: str
    indexes: Sequence[str]
    keys: Sequence[str] = ()
    reorganised: int = 0
    """How often."""


class _Fragment(NamedTuple):
    """What is printed of one."""

    partition: int
    rows: int
    fixed_bytes: int
    variable_bytes: int
    extents_bytes: int
    free_bytes: int
    nodes: Sequence[int]


def desc(cluster: LiveCluster, host: Host, words: Sequence[str]) -> Answer:
    """`ndb_desc -d DATABASE TABLE [-p] [-n]`: columns, indexes, and what each partition holds."""
    read = read_words("ndb_desc", words, _VALUES, _FLAGS, "ndb_desc: ")
    if isinstance(read, Answer):
        return read
    database = read.values.get("--database", "TEST_DB")
    names = [*([read.values["--table"]] if "--table" in read.values else []), *read.names]
    if none := unreached(cluster, host, read.values, ends=True):
        return none
    if not cluster.state.alive():
        return Answer("Unable to connect to the data nodes within 30 seconds.\n", 1)
    if not names:
        return Answer("Usage: ndb_desc -d DATABASE TABLE [-p] [-n]\n", 1)
    text = ""
    for name in names:
        found = _found(cluster, database, name)
        if found is None:
            text += "\n".join([*(described(cluster, name) or (f"No such object: {name}", "")), ""])
            continue
        told, fragments = found
        lines = list(_lines(cluster, told))
        if "--extra-partition-info" in read.flags:
            lines += _partitions(fragments, nodes="--extra-node-info" in read.flags)
        text += "\n".join([*lines, "", ""]) + "\n"
    return Answer(text + str(form(cluster.plan.version, "tool_ends")).format(code=0, word="OK"))


def _found(cluster: LiveCluster, database: str, name: str) -> tuple[_Told, list[_Fragment]] | None:
    plan = cluster.plan
    table = next((t for t in plan.tables if (t.database, t.name) == (database, name)), None)
    if table is not None:
        return _of_table(cluster, table), list(_fragments(cluster, table))
    of_system = (one for one in system_objects(plan) if one.name == f"{database}/def/{name}" and one.columns)
    known = next(of_system, None)
    return None if known is None else _of_system(cluster, known)


def _of_table(cluster: LiveCluster, table: Table) -> _Told:
    plan = cluster.plan_of(table)
    parts = partitions_of(cluster.session.simulation, plan, table)
    options = ["readbackup"] * reads_backup(table, plan.version)
    options += ["fullyreplicated"] * table.fully_replicated
    return _Told(
        table.name, list(columns_of(table, plan.version, cluster.state.ids[Thing("table", table.id)])),
        table.max_rows or 0, int(bool(plan.sql_nodes)), len({part.partition for part in parts}), len(parts),
        balance_of(table), options, distribute(plan, table).hash_map_name, list(_indexes(table)),
        list(_foreign_keys(cluster, table)), len(table.grown_from),
    )  # fmt: skip


def _indexes(table: Table) -> Iterator[str]:
    columns = {"PRIMARY": table.primary_key, **{one.name: one.columns for one in table.indexes}}
    yield f"PRIMARY KEY({', '.join(table.primary_key) or HIDDEN_KEY}) - UniqueHashIndex"
    for thing in things_of(table):
        if thing.kind in ("index", "unique"):
            inside = ", ".join(columns[thing.name])
            kind, more = ("UniqueHashIndex", "$unique") if thing.kind == "unique" else ("OrderedIndex", "")
            yield f"{thing.name}{more}({inside}) - {kind}"


def _foreign_keys(cluster: LiveCluster, table: Table) -> Iterator[str]:
    """Those by which a table refers to others; columns of the other table are left out."""
    # The reader of foreign keys loads the engine of queries.
    from ndbplan.train.sql.dictionary import foreign_keys

    own = f"{table.database}/def/{table.name}"
    for key in foreign_keys(cluster) if table.left_out else ():
        if key["child_table"] != own:
            continue
        # ndbinfo swaps the names of the two.
        by, of = ("PRIMARY KEY" if one == "PK" else one.rpartition("/")[2]
                  for one in (key["parent_index"], key["child_index"]))  # fmt: skip
        columns = ", ".join(table.columns[int(place)].name for place in key["child_columns"].split(","))
        parent = key["parent_table"].replace("/def/", ".")
        actions = " ".join(
            f"on {when} {key[f'on_{when}_action'].lower().replace('no action', 'noaction')}"
            for when in ("update", "delete")
        )
        yield f"{key['name']} {by} ({columns}) REFERENCES {parent}/{of} () {actions}"


def _fragments(cluster: LiveCluster, table: Table) -> Iterator[_Fragment]:
    for part in partitions_of(cluster.session.simulation, cluster.plan_of(table), table):
        space = fragment_space(cluster, table, part)
        yield _Fragment(
            part.partition, part.rows, part.fixed_bytes, part.variable_bytes,
            space.extents * space.extent_bytes, space.free_bytes, part.nodes,
        )  # fmt: skip


def _of_system(cluster: LiveCluster, one: SystemObject) -> tuple[_Told, list[_Fragment]]:
    places = system_partitions(cluster.plan)
    key = ", ".join(column.name for column in one.columns if column.in_key)
    own = [index for index in system_objects(cluster.plan) if index.parent == one.name and index.of]
    indexes = [f"PRIMARY KEY({key}) - UniqueHashIndex"]
    indexes += [f"{index.name.rpartition('/')[2]}({', '.join(index.of)}) - OrderedIndex" for index in own]
    balance = PartitionBalance.FOR_RP_BY_LDM.value
    told = _Told(
        one.name.rpartition("/")[2], one.columns, 0, one.told.get("force_var_part", 0), len(places),
        len(places), balance, (), first_map(cluster.state.ids).owner, indexes,
    )  # fmt: skip
    of_page = FIXED_PAGE_WORDS * WORD_BYTES // one.element_bytes
    fragments = [
        _Fragment(
            part.partition, rows, -(-rows // of_page) * PAGE_BYTES,
            -(-one.variable_bytes_of(place) // PAGE_BYTES) * PAGE_BYTES, 0, 0, part.nodes,
        )
        for place, part in places
        for rows in (one.rows_of(place),)
    ]  # fmt: skip
    return told, fragments


def _lines(cluster: LiveCluster, one: _Told) -> Iterator[str]:
    newer = cluster.plan.features.partition_balance
    yield from (
        f"-- {one.name} --", f"Version: {1 + _ALTERED * one.reorganised}",
        "Fragment type: HashMapPartition", "K Value: 6",
        "Min load factor: 78", "Max load factor: 80", "Temporary table: no",
        f"Number of attributes: {len(one.columns)}",
        f"Number of primary keys: {sum(column.in_key for column in one.columns)}", "Length of frm data: 0",
    )  # fmt: skip
    if newer:
        yield f"Max Rows: {one.max_rows}"
    yield from ("Row Checksum: 1", "Row GCI: 1", "SingleUserMode: 0", f"ForceVarPart: {one.variable}")
    if newer:
        yield f"PartitionCount: {one.partitions}"
    yield f"FragmentCount: {one.fragments}"
    if newer:
        yield f"PartitionBalance: {one.balance}"
    yield from ("ExtraRowGciBits: 0", "ExtraRowAuthorBits: 0", "TableStatus: Retrieved")
    if newer:
        yield " ".join(["Table options:", ", ".join(one.options)]).rstrip()
    if one.hash_map:
        yield f"HashMap: {one.hash_map}"
    yield "-- Attributes --"
    yield from (column.line() for column in one.columns)
    yield "-- Indexes -- "
    yield from one.indexes
    if one.keys:
        yield "-- ForeignKeys --"
        yield from one.keys


def _partitions(fragments: Iterable[_Fragment], *, nodes: bool) -> Iterator[str]:
    """Fragments without a row tell nothing: each is asked by a row of it [8.4.8]."""
    yield "-- Per partition info -- "
    titles = (
        "Partition", "Row count", "Commit count", "Frag fixed memory", "Frag varsized memory",
        "Extent_space", "Free extent_space", *(("Nodes",) if nodes else ()),
    )  # fmt: skip
    yield "".join(f"{name}\t" for name in titles)
    for one in fragments:
        if one.rows:
            row = (
                f"{one.partition:<10}\t{one.rows:<9}\t{one.rows:<12}\t{one.fixed_bytes:<17}\t"
                f"{one.variable_bytes:<20}\t{one.extents_bytes:<12}\t{one.free_bytes:<18}\t"
            )
            yield row + (f"{','.join(str(i) for i in one.nodes)}\t" if nodes else "")
