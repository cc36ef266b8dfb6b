"""Pages for tables, tablespaces and log file groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args

from PySide6.QtCore import Qt

from ndbplan.desktop.context import Context
from ndbplan.desktop.inspector.grid import Cell, Grid, Rows
from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.parts import link
from ndbplan.desktop.units import BYTES, COUNT, MEMORY, NUMBER, SHARE, TEXT, WHOLE, Unit
from ndbplan.plan import edits
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, ColumnType, Index, PartitionBalance, SpaceFile, Table

NAMES = Unit(
    lambda text: tuple(name.strip() for name in text.split(",") if name.strip()),
    lambda names: ", ".join(names),
    "id, name",
)
"""Column names, with commas between them."""

_TYPES = [(name, name) for name in get_args(ColumnType)]
_COLUMN_CELLS = (
    Cell("name", "Column", 92, TEXT),
    Cell("type", "Type", 84, choices=lambda _plan: _TYPES),
    Cell(
        "length",
        "Length",
        54,
        WHOLE,
        optional=True,
        tip="Characters of CHAR and VARCHAR, bytes of BINARY, digits of DECIMAL",
    ),
    Cell(
        "average_bytes",
        "Avg bytes",
        70,
        NUMBER,
        optional=True,
        tip="Mean length of the values that are not NULL",
    ),
    Cell("nullable", "Null", 40, flag=True),
    Cell("null_fraction", "NULLs", 60, SHARE, tip="Share of rows that hold NULL"),
    Cell("unsigned", "Unsigned", 62, flag=True),
    Cell("scale", "Scale", 50, WHOLE, optional=True, tip="Digits behind the point of DECIMAL"),
    Cell("storage", "Storage", 72, choices=lambda _plan: [("memory", "memory"), ("disk", "disk")]),
    Cell(
        "column_format",
        "Format",
        76,
        choices=lambda _plan: [(f, f) for f in ("default", "fixed", "dynamic")],
    ),
    Cell("collation", "Collation", 150, TEXT, optional=True, tip="Empty: the version's default"),
)
_INDEX_KINDS = [("ordered", "ordered"), ("unique", "unique"), ("unique_hash", "unique, hash only")]


class TablePage(Page):
    """Tables: rows, partitions, keys, columns, indexes."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("database", "Database", TEXT)
            form.line("name", "Name", TEXT)
        form.line("rows", "Rows", COUNT)
        form.line("growth_rows_per_month", "Growth per month", COUNT, tip="Rows that are added each month")
        if self.only is not None:
            count = link("Count real keys from a CSV…", self._count_keys)
            self.column.addWidget(count, 0, Qt.AlignmentFlag.AlignRight)
            form = self.form()
            form.line(
                "primary_key", "Primary key", NAMES, empty="hidden key", get=_get("primary_key"), edit=_key
            )
            form.line(
                "distribution_key",
                "Distribution key",
                NAMES,
                empty="primary key",
                tip="Columns of PARTITION BY KEY, out of the primary key",
                edit=lambda plan, i, names: edits.update(plan, i, distribution_key=names or ()),
            )
            self._grids()
        self._storage()

    def _count_keys(self) -> None:
        from ndbplan.desktop.real_keys_dialog import RealKeysDialog

        RealKeysDialog(self.context.document, self.ids[0], self.window()).open()

    def _grids(self) -> None:
        document, table_id = self.context.document, self.ids[0]
        columns = Grid(document, _rows_of(table_id, "columns", "column", _new_column), _COLUMN_CELLS)
        self.section("Columns").body.addWidget(columns)
        self.keep_fresh(columns)
        indexes = Grid(
            document,
            _rows_of(table_id, "indexes", "index", _index_maker(table_id)),
            (
                Cell("name", "Index", 92, TEXT),
                Cell("columns", "Columns", 100, NAMES),
                Cell("kind", "Kind", 90, choices=lambda _plan: _INDEX_KINDS),
            ),
        )
        self.section("Secondary indexes").body.addWidget(indexes)
        self.keep_fresh(indexes)

    def _storage(self) -> None:
        section = self.section("Partitions and storage", collapsible=True, expanded=False)
        form = self.form(section.body)
        form.choice("partition_balance", "Partition balance", [(b, b.value) for b in PartitionBalance])
        form.line("partitions", "Partitions", WHOLE, empty="by balance", tip="PARTITIONS n")
        form.line("max_rows", "MAX_ROWS", COUNT, empty="not set")
        form.line(
            "hash_map_buckets",
            "Hash map buckets",
            WHOLE,
            empty="by version",
            tip="Size of the map the table was created with: 240 before 7.2, then 3840",
        )
        form.flag("fully_replicated", "Fully replicated")
        form.choice("read_backup", "READ_BACKUP", [(None, "by version"), (True, "on"), (False, "off")])
        form.flag("logging", "Logged", tip="Off: the table is empty after a system restart")
        form.flag("primary_key_using_hash", "Hash key only", tip="PRIMARY KEY USING HASH: no ordered index")
        form.flag("row_format_fixed", "ROW_FORMAT=FIXED")
        form.choice("tablespace_id", "Tablespace", _tablespaces)


class TablespacePage(Page):
    """A tablespace and its data files."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("name", "Name", TEXT)
        form.choice("logfile_group_id", "Log file group", _logfile_groups)
        form.line("extent_size_bytes", "Extent size", MEMORY)
        form.line("directory", "Directory", TEXT, empty="DataDir of the node")
        if self.only is not None:
            _files(self, "data_files", "data file")


class LogfileGroupPage(Page):
    """A log file group and its undo files."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("name", "Name", TEXT)
        form.line("undo_buffer_bytes", "Undo buffer", MEMORY)
        if self.only is not None:
            _files(self, "undo_files", "undo file")


def _files(page: Page, name: str, what: str) -> None:
    def another(_plan: Plan, files: tuple[Any, ...]) -> SpaceFile:
        model = files[-1]
        return SpaceFile(name=_free(model.name, {file.name for file in files}), size_bytes=model.size_bytes)

    files = Grid(
        page.context.document,
        _rows_of(page.ids[0], name, what, another),
        (
            Cell("name", "File", 120, TEXT),
            Cell("size_bytes", "Size", 90, BYTES),
            Cell("count", "Count", 50, WHOLE),
        ),
    )
    page.section(f"{what}s").body.addWidget(files)
    page.keep_fresh(files)


def _rows_of(object_id: str, name: str, what: str, new: Any) -> Rows:
    """The parts in attribute `name` of one object."""

    def get(plan: Plan) -> tuple[Any, ...]:
        part = plan.by_id.get(object_id)
        return getattr(part, name) if part is not None else ()

    def put(plan: Plan, parts: tuple[Any, ...]) -> Plan:
        before = get(plan)
        plan = _renamed_columns(plan, object_id, before, parts) if name == "columns" else plan
        return edits.update(plan, object_id, **{name: parts, **_keys_after(plan, object_id, name, parts)})

    return Rows(what, get, put, new)


def _keys_after(plan: Plan, table_id: str, name: str, parts: tuple[Any, ...]) -> dict[str, Any]:
    """Keys that follow when one column of a table is renamed."""
    table = plan.by_id[table_id]
    if name != "columns" or not isinstance(table, Table) or len(parts) != len(table.columns):
        return {}
    names = {
        old.name: new.name for old, new in zip(table.columns, parts, strict=True) if old.name != new.name
    }
    if len(names) != 1:
        return {}

    def follow(keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(names.get(key, key) for key in keys)

    return {
        "primary_key": follow(table.primary_key),
        "distribution_key": follow(table.distribution_key),
        "indexes": tuple(edits.changed(i, columns=follow(i.columns)) for i in table.indexes),
    }


def _renamed_columns(plan: Plan, table_id: str, before: tuple[Any, ...], after: tuple[Any, ...]) -> Plan:
    """Operations of workloads that name the columns of the table follow too."""
    if len(before) != len(after):
        return plan
    names = {old.name: new.name for old, new in zip(before, after, strict=True) if old.name != new.name}
    if len(names) != 1:
        return plan
    (old,) = names
    for workload in plan.workloads:
        transactions = tuple(
            t.model_copy(
                update={
                    "operations": tuple(
                        o.model_copy(update={"columns": tuple(names.get(c, c) for c in o.columns)})
                        if o.table_id == table_id and old in o.columns
                        else o
                        for o in t.operations
                    )
                }
            )
            for t in workload.transactions
        )
        if transactions != workload.transactions:
            renamed = workload.model_copy(update={"transactions": transactions})
            plan = plan.replace(workloads=tuple(renamed if w is workload else w for w in plan.workloads))
    return plan


def _new_column(_plan: Plan, columns: tuple[Any, ...]) -> Column:
    return Column(name=_free("column", {column.name for column in columns}), type="int")


def _index_maker(table_id: str) -> Any:
    def another(plan: Plan, indexes: tuple[Any, ...]) -> Index:
        table = plan.by_id[table_id]
        key = {*table.primary_key, *(name for index in indexes for name in index.columns)}
        column = next((c.name for c in table.columns if c.name not in key), table.columns[-1].name)
        return Index(name=_free(f"idx_{column}", {index.name for index in indexes}), columns=(column,))

    return another


def _get(name: str) -> Any:
    return lambda part: getattr(part, name)


def _key(plan: Plan, table_id: str, names: tuple[str, ...] | None) -> Plan:
    key = names or ()
    kept = tuple(name for name in plan.by_id[table_id].distribution_key if name in key)
    return edits.update(plan, table_id, primary_key=key, distribution_key=kept)


def _free(wish: str, taken: set[str]) -> str:
    name, number = wish, 1
    while name in taken:
        number += 1
        name = f"{wish}_{number}"
    return name


def _tablespaces(plan: Plan) -> list[tuple[str | None, str]]:
    return [(None, "none"), *((space.id, space.name) for space in plan.tablespaces)]


def _logfile_groups(plan: Plan) -> list[tuple[str | None, str]]:
    return [(group.id, group.name) for group in plan.logfile_groups]
