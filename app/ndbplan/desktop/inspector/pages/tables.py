"""Pages for tables, tablespaces and log file groups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt

from ndbplan.desktop.document.context import Context
from ndbplan.desktop.inspector.page import Page
from ndbplan.desktop.inspector.pages.links import ObjectLinks
from ndbplan.desktop.widgets.grid import Cell, Grid, Rows
from ndbplan.desktop.widgets.sections import link
from ndbplan.desktop.widgets.units import COUNT, MEMORY, NUMBER, SHARE, TEXT, WHOLE, WHOLE_NUMBER, Unit
from ndbplan.edits import offers
from ndbplan.edits import parts as edits
from ndbplan.edits.disk_data import folders_to_choose, next_file_name
from ndbplan.edits.tables import put_columns, put_primary_key
from ndbplan.estimate.storage.column_bytes import assumed_mean_bytes
from ndbplan.ndb.columns import COLUMN_TYPES
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, PartitionBalance, SpaceFile

NAMES = Unit(
    lambda text: tuple(name.strip() for name in text.split(",") if name.strip()),
    lambda names: ", ".join(names),
    "id, name",
)
"""Column names, with commas between them."""

_TYPES = [(name, name) for name in COLUMN_TYPES]
_COLUMN_CELLS = (
    Cell("name", "Column", 92, TEXT),
    Cell("type", "Type", 92, choices=lambda _plan: _TYPES),
    Cell(
        "average_bytes",
        "Avg bytes",
        112,
        NUMBER,
        optional=True,
        tip="Mean length of the values that are not NULL",
        instead=lambda plan, column: assumed_mean_bytes(column, plan.version),
    ),
    Cell(
        "length",
        "Length",
        54,
        WHOLE,
        optional=True,
        tip="Characters of CHAR and VARCHAR, bytes of BINARY, digits of DECIMAL",
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
            form.line("database", TEXT)
            form.line("name", TEXT)
        form.line("rows", COUNT)
        form.line("growth_rows_per_month", COUNT, tip="Rows that are added each month")
        if self.only is not None:
            count = link("Count real keys from a CSV…", self._count_keys)
            self.column.addWidget(count, 0, Qt.AlignmentFlag.AlignRight)
            where = link("Where a key lies…", self._find_key)
            self.column.addWidget(where, 0, Qt.AlignmentFlag.AlignRight)
            form = self.form()
            form.line(
                "primary_key",
                NAMES,
                empty="hidden key",
                get=_get("primary_key"),
                edit=put_primary_key,
            )
            form.line(
                "distribution_key",
                NAMES,
                empty="primary key",
                tip="Columns of PARTITION BY KEY, from the primary key",
                edit=lambda plan, i, names: edits.update(plan, i, distribution_key=names or ()),
            )
            form.line(
                "distribution_key_values",
                COUNT,
                empty="not stated",
                tip="How many different values the distribution key has; few of them spread unevenly. "
                "Empty: as many as the table below has rows, else one per row",
            )
            form.choice(
                "distribution_key_table_id",
                _other_tables(self.ids[0]),
                tip="The table of which each row is one value, such as that of the warehouses",
            )
            form.line(
                "distribution_key_first",
                WHOLE_NUMBER,
                empty="not known",
                tip="When the values are whole numbers one after the other: rows then lie as their hash says",
            )
            self._grids()
        self._storage()

    def _count_keys(self) -> None:
        from ndbplan.desktop.dialogs.real_keys_dialog import RealKeysDialog

        RealKeysDialog(self.context.document, self.ids[0], self.window()).open()

    def _find_key(self) -> None:
        from ndbplan.desktop.dialogs.key_dialog import KeyDialog

        KeyDialog(self.context.document, self.context.selection, self.ids[0], self.window()).open()

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
        form.choice("partition_balance", [(b, b.value) for b in PartitionBalance])
        form.line("partitions", WHOLE, empty="by balance", tip="PARTITIONS n")
        form.line("max_rows", COUNT, empty="not set")
        form.line(
            "hash_map_buckets",
            WHOLE,
            empty="by version",
            tip="Size of the map the table was created with: 240 before 7.2, then 3840",
        )
        form.flag("fully_replicated")
        form.choice("read_backup", [(None, "by version"), (True, "on"), (False, "off")])
        form.flag("logging", tip="Off: the table is empty after a system restart")
        form.flag("primary_key_using_hash", tip="PRIMARY KEY USING HASH: no ordered index")
        form.flag("row_format_fixed")
        form.choice("tablespace_id", _tablespaces)


class TablespacePage(Page):
    """A tablespace and its data files."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("name", TEXT)
        form.choice("logfile_group_id", _logfile_groups)
        form.line("extent_size_bytes", MEMORY)
        form.line("directory", TEXT, empty="DataDir of the node")
        if self.only is not None:
            _files(self, "data_files", "data file")
            _users(self, "Tables in it", lambda plan: _inside(plan.tables, "tablespace_id", self.ids[0]))


class LogfileGroupPage(Page):
    """A log file group and its undo files."""

    def __init__(self, context: Context, ids: Sequence[str]) -> None:
        super().__init__(context, ids)
        form = self.form()
        if self.only is not None:
            form.line("name", TEXT)
        form.line("undo_buffer_bytes", MEMORY)
        if self.only is not None:
            _files(self, "undo_files", "undo file")
            _users(
                self,
                "Tablespaces with it",
                lambda plan: _inside(plan.tablespaces, "logfile_group_id", self.ids[0]),
            )


def _files(page: Page, name: str, what: str) -> None:
    def another(plan: Plan, files: tuple[Any, ...]) -> SpaceFile:
        return SpaceFile(name=next_file_name(plan, files), size_bytes=files[-1].size_bytes)

    files = Grid(
        page.context.document,
        _rows_of(page.ids[0], name, what, another),
        (
            Cell("name", "File", 90, TEXT),
            Cell("size_bytes", "Size", 66, MEMORY),
            Cell("count", "Count", 54, WHOLE),
            Cell(
                "directory",
                "Lies on",
                90,
                choices=folders_to_choose,
                tip="Files may lie on several disks; the folder is the same on every data node",
            ),
        ),
    )
    page.section(f"{what}s").body.addWidget(files)
    page.keep_fresh(files)


def _users(page: Page, heading: str, objects: Callable[[Plan], list[Any]]) -> None:
    users = ObjectLinks(page.context, objects, "None yet.")
    page.section(heading).body.addWidget(users)
    page.keep_fresh(users)


def _inside(parts: Sequence[Any], field: str, object_id: str) -> list[Any]:
    return [part for part in parts if getattr(part, field) == object_id]


def _rows_of(object_id: str, name: str, what: str, new: Any) -> Rows:
    """The parts in attribute `name` of one object."""

    def get(plan: Plan) -> tuple[Any, ...]:
        part = plan.by_id.get(object_id)
        return getattr(part, name) if part is not None else ()

    def put(plan: Plan, parts: tuple[Any, ...]) -> Plan:
        if name == "columns":
            return put_columns(plan, object_id, parts)
        return edits.update(plan, object_id, **{name: parts})

    return Rows(what, get, put, new)


def _new_column(_plan: Plan, columns: tuple[Any, ...]) -> Column:
    return offers.make_column(columns)


def _index_maker(table_id: str) -> Any:
    return lambda plan, _indexes: offers.make_index(plan.by_id[table_id])


def _get(name: str) -> Any:
    return lambda part: getattr(part, name)


def _other_tables(table_id: str) -> Any:
    def others(plan: Plan) -> list[tuple[str | None, str]]:
        return [(None, "no table"), *((t.id, t.full_name) for t in plan.tables if t.id != table_id)]

    return others


def _tablespaces(plan: Plan) -> list[tuple[str | None, str]]:
    return [(None, "none"), *((space.id, space.name) for space in plan.tablespaces)]


def _logfile_groups(plan: Plan) -> list[tuple[str | None, str]]:
    return [(group.id, group.name) for group in plan.logfile_groups]
