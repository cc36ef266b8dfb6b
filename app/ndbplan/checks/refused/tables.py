"""Rules about tables that SQL nodes refuse to make: types, collations and keys of their version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ndbplan.checks.problem import Edit, Problem
from ndbplan.checks.refused.limit_cures import limit_cures
from ndbplan.checks.refused.table_cures import fewer_fragments, table_cures
from ndbplan.checks.rule import error, rule, warning
from ndbplan.checks.solutions import one_of
from ndbplan.configuration.directories import disk_of_path, named_folders
from ndbplan.configuration.refused_tables import (
    RefusedColumn,
    has_usual_sql_mode,
    impossible_in,
    in_keys,
    unknown_in,
)
from ndbplan.configuration.space_files import files_twice
from ndbplan.configuration.table_limits import over_limits
from ndbplan.edits import validated
from ndbplan.edits.changes import SetField, together
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.stored import has_partitions, has_too_many_fragments, most_in_one_ldm
from ndbplan.ndb import sql_versions
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, LogfileGroup, SpaceFile, Table, Tablespace


@rule("column-of-version", "SQL nodes of the version do not know a column's type or collation")
def column_of_version(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for table in plan.tables:
        for column in table.columns:
            instead = None
            for why in unknown_in(column, plan.version):
                instead = instead or _instead(column, plan.version)
                where = f"column {column.name} of {table.full_name}"
                yield error(
                    where,
                    f"{where}: {why}; CREATE TABLE fails on NDB {plan.ndb_version}",
                    f"use {_difference(column, instead)}",
                    [table.id],
                    _with_column(table, instead),
                )


@rule("column-in-key", "A column is in a key or index that cannot hold it")
def column_in_key(now: Estimation) -> Iterator[Problem]:
    for one in (one for table in now.plan.tables for one in in_keys(table)):
        key = f"index {one.key}" if one.key else "the primary key"
        told = error(
            one.where,
            f"{one.where} is in {key}: {one.why}; CREATE TABLE fails",
            f"take index {one.key} out" if one.key else "choose another primary key",
            [one.table.id],
            _without_index(one) if one.key else None,
        )
        if one.key:
            yield told
            continue
        ways = tuple(table_cures(now.plan, one))
        unknown = "which columns tell the rows apart: only whoever made the table knows"
        yield replace(told, solve=one_of(now, "column-in-key", ways, unknown, [one.table.id]))


@rule("table-impossible", "A table has columns or keys that no SQL node makes")
def table_impossible(now: Estimation) -> Iterator[Problem]:
    version, strict = now.plan.version, has_usual_sql_mode(now.plan)
    for one in (one for table in now.plan.tables for one in impossible_in(table, version, strict=strict)):
        key = "" if one.key is None else f" in index {one.key}" if one.key else " in the primary key"
        told = error(
            one.where,
            f"{one.where}{key}: {one.why}; CREATE TABLE fails",
            "correct the table",
            [one.table.id],
        )
        ways = tuple(table_cures(now.plan, one))
        unknown = "what the table is meant to be: only whoever made it knows"
        yield replace(told, solve=one_of(now, "table-impossible", ways, unknown, [one.table.id]))


@rule("table-too-large", "A table has more columns, keys or bytes than the version takes")
def table_too_large(now: Estimation) -> Iterator[Problem]:
    for one in (one for table in now.plan.tables for one in over_limits(table, now.plan.version)):
        told = error(
            one.where,
            f"{one.where}: {one.why}; CREATE TABLE fails on NDB {now.plan.ndb_version}",
            "make it smaller",
            [one.table.id],
        )
        ways = tuple(limit_cures(now.plan, one))
        unknown = "which columns or indexes it can do without: only whoever made the table knows"
        yield replace(told, solve=one_of(now, "table-too-large", ways, unknown, [one.table.id]))


@rule("too-many-fragments", "A table has more fragments than the LDM threads take")
def too_many_fragments(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    for table in plan.tables if has_partitions(plan) else ():
        if has_too_many_fragments(plan, table):
            most, limit = most_in_one_ldm(plan, table), plan.features.fragments_of_table_in_ldm
            told = error(
                f"table {table.full_name}",
                f"an LDM thread would have {most} fragments of {table.full_name}, copies counted, and takes "
                f"{limit} of a table; CREATE TABLE fails with error 1224",
                "have fewer partitions, or more LDM threads",
                [table.id],
                measure=most / limit,
            )
            unknown = "how many LDM threads and redo log parts the data nodes are to have"
            ways = tuple(fewer_fragments(plan, table))
            yield replace(told, solve=one_of(now, "too-many-fragments", ways, unknown, [table.id]))


@rule("file-twice", "Two tablespaces or log file groups have a file of one name")
def file_twice(now: Estimation) -> Iterator[Problem]:
    for path, first, second in files_twice(now.plan):
        whose = f"twice in {first.name}" if first is second else f"in {first.name} and in {second.name}"
        yield error(
            f"file {path}",
            f"file {path} is {whose}; a data node has one of a name, and the second statement fails with "
            "error 760 (File already exists)",
            f"give the one of {second.name} another name",
            list(dict.fromkeys((first.id, second.id))),
            _files_renamed(now.plan, second),
        )


@rule("file-directory", "A folder of files of disk data is on no disk, or two data nodes would share it")
def file_directory(now: Estimation) -> Iterator[Problem]:
    plan = now.plan
    parts: tuple[LogfileGroup | Tablespace, ...] = (*plan.logfile_groups, *plan.tablespaces)
    hosts = {host_id: plan.host(host_id) for host_id in dict.fromkeys(n.host_id for n in plan.data_nodes)}
    for folder in named_folders(plan):
        owners = [part.id for part in parts if folder in _folders(part)]
        for host in hosts.values():
            count = sum(node.host_id == host.id for node in plan.data_nodes)
            if count > 1:
                yield error(
                    f"folder {folder}",
                    f"{host.hostname} has {count} data nodes, and a whole path is the same for all: "
                    f"the second to make a file in {folder} fails with error 760 (File already exists). One "
                    "data node on each host would do as well",
                    "name no folder: the files lie on the disk of their role then",
                    [*owners, host.id],
                    _without_folder(parts, folder),
                )
                break
        missing = [h for h in hosts.values() if h.disks and disk_of_path(h.disks, folder) is None]
        if missing:
            names = ", ".join(host.hostname for host in missing[:3]) + (" …" if len(missing) > 3 else "")
            yield warning(
                f"folder {folder}",
                f"folder {folder} is on no disk of {names}; its files count to the disk of their role until "
                "one is mounted there on every host of a data node",
                "name no folder: the files lie on the disk of their role then",
                [*owners, *(host.id for host in missing)],
                _without_folder(parts, folder),
            )


def _without_folder(parts: Iterable[LogfileGroup | Tablespace], folder: str) -> Edit:
    """No folder is named where this one was: files lie on the disk of their role."""
    edits: list[Edit] = []
    for part in parts:
        if isinstance(part, Tablespace) and part.directory == folder:
            edits.append(SetField(part.id, "directory", None))
        field = "undo_files" if isinstance(part, LogfileGroup) else "data_files"
        files: tuple[SpaceFile, ...] = getattr(part, field)
        if any(file.directory == folder for file in files):
            left = (validated.changed(f, directory=None) if f.directory == folder else f for f in files)
            edits.append(SetField(part.id, field, tuple(left)))
    all_of_them: Edit = together(edits)
    return all_of_them


def _folders(part: LogfileGroup | Tablespace) -> set[str | None]:
    if isinstance(part, LogfileGroup):
        return {file.directory for file in part.undo_files}
    return {file.directory or part.directory for file in part.data_files}


def _files_renamed(plan: Plan, owner: LogfileGroup | Tablespace) -> Edit | None:
    """Files of one that are called after it; none where such names are too long, or taken as well."""
    field = "undo_files" if isinstance(owner, LogfileGroup) else "data_files"
    files: tuple[SpaceFile, ...] = getattr(owner, field)
    try:
        renamed = tuple(
            validated.changed(file, name=f"{owner.name}_{number}_{file.name.rpartition('/')[2]}")
            for number, file in enumerate(files, 1)
        )
    except validated.EditError:
        return None
    changed = validated.changed(owner, **{field: renamed})
    parts = {"logfile_groups": plan.logfile_groups, "tablespaces": plan.tablespaces}
    after = plan.replace(
        **{name: tuple(changed if one is owner else one for one in of) for name, of in parts.items()}
    )
    still = any(owner.id in (twice.first.id, twice.second.id) for twice in files_twice(after))
    return None if still else SetField(owner.id, field, renamed)


def _instead(column: Column, version: NdbVersion) -> Column:
    """The column as the version can have it."""
    fields: dict[str, object] = {}
    if sql_versions.unknown_type(column.type, version):
        fields["type"] = sql_versions.type_instead(column.type)
        if COLUMN_TYPES[str(fields["type"])].is_text:
            fields["collation"] = sql_versions.collation_instead("utf8mb4_bin", version)
    elif column.collation is not None and sql_versions.unknown_collation(column.collation, version):
        fields["collation"] = sql_versions.collation_instead(column.collation, version)
    if sql_versions.unknown_fraction(column.type, column.length, version):
        fields["length"] = 0
    if column.default is not None and sql_versions.unknown_default(column.default, version):
        fields["default"] = None
    return validated.changed(column, **fields)


def _difference(before: Column, after: Column) -> str:
    told = []
    if after.type != before.type:
        told.append(f"{after.type.upper()} COLLATE {after.collation}")
    elif after.collation != before.collation:
        told.append(str(after.collation))
    if after.length != before.length:
        told.append("whole seconds")
    if after.default != before.default:
        told.append("no DEFAULT")
    return " and ".join(told)


def _with_column(table: Table, column: Column) -> Edit:
    columns = tuple(column if one.name == column.name else one for one in table.columns)
    return SetField(table.id, "columns", columns)


def _without_index(one: RefusedColumn) -> Edit:
    left = tuple(index for index in one.table.indexes if index.name != one.key)
    return SetField(one.table.id, "indexes", left)
