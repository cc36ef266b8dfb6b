"""Ways out for tables whose columns on disk have no place: a tablespace that is there, a new one, or memory.

home_for(now, table)(look)       # put it into ts_1; make a tablespace; keep the columns in memory
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from ndbplan.base.units import GIB, format_bytes_binary
from ndbplan.checks.fits import misfit
from ndbplan.checks.problem import Edit, Look, Solution, Solve, WaysOut
from ndbplan.checks.solutions import completed, ways_out
from ndbplan.edits import parts as edits
from ndbplan.edits.disk_data import IntoTablespace, KeepInMemory
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.tables import Table

FILLED = 0.80
"""Of a new tablespace, what its tables take: rows come, and extents belong to fragments."""
_FULL = 0.95
_MONTHS = 24
"""Growth that a new tablespace has room for: files are made at their full size, so not for ever."""


def home_for(now: Estimation, table: Table) -> Solve:
    """What finds the ways out for a table with columns on disk and no tablespace."""
    return partial(_ways, now, table)


def offered_home(now: Estimation, table: Table) -> Solution | None:
    """What is offered at once for a table with columns on disk: a tablespace with room, else a new one."""
    ways = (way for ways in (_that_are_there, _new) for way in ways(now, table))
    return next((way for way in ways if not misfit(now, way.edit(now.plan))), None)


def needed_bytes(now: Estimation, edit: Edit, table: Table) -> float:
    """What the tablespace of a table holds after an edit, at most; bytes of the node that holds most."""
    after = edit(now.plan)
    space_id = after.by_id[table.id].tablespace_id
    name = next(space.name for space in after.tablespaces if space.id == space_id)
    uses = now.of(after).disk_data.tablespaces
    return next((use.used_bytes.high for use in uses if use.tablespace == name), 0.0)


def _ways(now: Estimation, table: Table, look: Look) -> WaysOut:
    kept, against = [], list[str]()
    for way in (*_that_are_there(now, table), *_new(now, table), _memory(table)):
        reason = misfit(now, way.edit(now.plan)) or completed(look, now.plan, way.edit, "")[1]
        if reason:
            against.append(f"{way.title}: {reason}")
        else:
            kept.append(way)
    return ways_out(kept, f"make room first; nothing that was tried works: {'; '.join(against)}")


def _that_are_there(now: Estimation, table: Table) -> Iterator[Solution]:
    """Tablespaces with room for the table."""
    for space in now.plan.tablespaces:
        edit = IntoTablespace(table.id, space.id)
        capacity = sum(file.size_bytes * file.count for file in space.data_files)
        if needed_bytes(now, edit, table) <= _FULL * capacity:
            yield Solution(f"Put it into tablespace {space.name}", "it has the room", edit)


def _new(now: Estimation, table: Table) -> Iterator[Solution]:
    """A tablespace of its own, as large as the table wants."""
    later = now.of(edits.update(now.plan, table.id, rows=table.rows + _MONTHS * table.growth_rows_per_month))
    needed = needed_bytes(later, IntoTablespace(table.id, None), table)
    wanted = max(1, math.ceil(needed / FILLED / GIB)) * GIB
    edit = IntoTablespace(table.id, None, wanted)
    after = edit(now.plan)
    group = "" if now.plan.logfile_groups else f", with log file group {after.logfile_groups[-1].name}"
    name = after.tablespaces[-1].name
    size = format_bytes_binary(wanted)
    why = f"two years of {table.full_name} fit, and a quarter more; each data node makes files of this size"
    yield Solution(f"Make tablespace {name} of {size}{group}", why, edit)


def _memory(table: Table) -> Solution:
    why = "nothing has to be created, but they take DataMemory"
    return Solution("Keep its columns in memory", why, KeepInMemory(table.id))
