"""Adding tables, columns, indexes, tablespaces, log file groups and their files."""

from __future__ import annotations

from ndbplan.edits import offers, validated
from ndbplan.edits import parts as edits
from ndbplan.edits.additions.words import (
    Made,
    Maker,
    Words,
    append,
    holder,
    object_path,
    one_name,
    path_of,
    set_fields,
    set_inside,
    typed_value,
)
from ndbplan.edits.disk_data import new_logfile_group, new_tablespace
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import SpaceFile


def tables(plan: Plan, words: Words) -> Made:
    """Tables with one column each, `db.name` or in the database of the last one."""
    paths = []
    for name in words.names or ("",):
        database, dot, rest = name.partition(".")
        part = offers.make_table(plan, database if dot else None, (rest if dot else name) or None)
        plan = set_fields(edits.add(plan, part), part.id, words)
        paths.append(path_of(plan, plan.tables[-1]))
    return plan, paths


def columns(plan: Plan, words: Words) -> Made:
    """Columns of one table, numbers unless another type is said."""
    table_id = holder(plan, words, "table", "tables", "table")
    paths = []
    for name in words.names or ("",):
        columns = plan.by_id[table_id].columns
        new = offers.make_column(columns)
        new = validated.changed(new, name=name) if name else new
        path, plan = append(plan, (*object_path(plan, table_id), "columns"), new)
        plan = set_inside(plan, path, words.without("table"))
        paths.append(path)
    return plan, paths


def indexes(plan: Plan, words: Words) -> Made:
    """A secondary index of a table."""
    table_id = holder(plan, words, "table", "tables", "table")
    name = one_name(words, "index")
    new = offers.make_index(plan.by_id[table_id])
    new = validated.changed(new, name=name) if name else new
    path, plan = append(plan, (*object_path(plan, table_id), "indexes"), new)
    return set_inside(plan, path, words.without("table")), [path]


def logfile_groups(plan: Plan, words: Words) -> Made:
    """A log file group with its first undo files."""
    part = new_logfile_group(plan, one_name(words, "logfile-group"))
    part = validated.changed(part, undo_files=(_file(plan, words, part.undo_files[0]),))
    plan = set_fields(edits.add(plan, part), part.id, words.without("file", "size", "count"))
    return plan, [path_of(plan, plan.logfile_groups[-1])]


def tablespaces(plan: Plan, words: Words) -> Made:
    """A tablespace with its first data files."""
    name = one_name(words, "tablespace")
    group = holder(plan, words, "logfile_group", "logfile_groups", "log file group")
    part = new_tablespace(plan, group, name)
    part = validated.changed(part, data_files=(_file(plan, words, part.data_files[0]),))
    plan = set_fields(edits.add(plan, part), part.id, words.without("file", "size", "count", "logfile_group"))
    return plan, [path_of(plan, plan.tablespaces[-1])]


def _file(plan: Plan, words: Words, made: SpaceFile) -> SpaceFile:
    """Files of one size: `file=NAME size=1GB count=4`."""
    typed = {"name": words.fields.get("file"), "size_bytes": words.fields.get("size")}
    typed["count"] = words.fields.get("count")
    for field, text in typed.items():
        if text is not None:
            value = typed_value(plan, SpaceFile, field, text)
            left = tuple(name for name in made.assumed if name != field)
            made = validated.changed(made, **{field: value}, assumed=left)
    return made


def files(what: str, key: str, collection: str, field: str) -> Maker:
    """What makes further files of a tablespace or log file group."""

    def make(plan: Plan, words: Words) -> Made:
        name = one_name(words, what, needed=True) or ""
        object_id = holder(plan, words, key, collection, collection[:-1].replace("_", " "))
        last = getattr(plan.by_id[object_id], field)[-1]
        new = validated.changed(last, name=name, count=1)
        path, plan = append(plan, (*object_path(plan, object_id), field), new)
        return set_inside(plan, path, words.without(key)), [path]

    return make
