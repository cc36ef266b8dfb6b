"""Plans drawn by hypothesis whose disks may be too small: capacities, disk data, growth, backups kept."""

from __future__ import annotations

from hypothesis import strategies as st

from drawn_loads import loaded_plans
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.plan import Plan
from ndbplan.plan.tables import Column, LogfileGroup, SpaceFile, Tablespace

_SIZES = st.sampled_from([2**20, 128 * 2**20, 10**9, 2**34, 10**11, 400 * 2**30])
_CAPACITIES = st.sampled_from([10**6, 10**9, 4 * 10**9, 16 * 10**9, 146 * 10**9, 5 * 10**11, 10**13])
_LOG = {
    "NoOfFragmentLogFiles": st.sampled_from([3, 16, 300, 10_000]),
    "FragmentLogFileSize": st.sampled_from([4 * 2**20, 16 * 2**20, 256 * 2**20]),
    "DataMemory": st.sampled_from([80 * 2**20, 2**32, 2**36, 750 * 2**30]),
    "CompressedBackup": st.integers(0, 1),
    "CompressedLCP": st.integers(0, 1),
}


@st.composite
def space_plans(draw: st.DrawFn) -> Plan:
    """A loaded plan with disks of any size, some disk data, growing tables and a number of backups."""
    plan = draw(loaded_plans())
    hosts = tuple(
        host.model_copy(
            update={
                "disks": tuple(
                    disk.model_copy(update={"capacity_bytes": draw(_CAPACITIES)}) for disk in host.disks
                )
            }
        )
        for host in plan.hosts
    )
    tables = tuple(
        table.model_copy(update={"growth_rows_per_month": draw(st.sampled_from([0, 10**5, 10**7]))})
        for table in plan.tables
    )
    plan = plan.replace(hosts=hosts, tables=tables, backups_kept=draw(st.sampled_from([0, 1, 3])))
    for name in draw(st.lists(st.sampled_from(sorted(_LOG)), unique=True)):
        plan = set_parameter(plan, "data_node", name, draw(_LOG[name]))
    if draw(st.booleans()):
        plan = _with_disk_data(draw, plan)
    return plan


def _with_disk_data(draw: st.DrawFn, plan: Plan) -> Plan:
    undo = SpaceFile(name="u", size_bytes=draw(_SIZES), count=draw(st.integers(1, 4)))
    data = SpaceFile(name="d", size_bytes=draw(_SIZES), count=draw(st.integers(1, 100)))
    tables = plan.tables
    if tables and draw(st.booleans()):
        on_disk = Column(name="far", type="varbinary", length=2000, storage="disk")
        first = tables[0].model_copy(
            update={
                "columns": (*tables[0].columns, on_disk),
                "tablespace_id": "space",
                "rows": tables[0].rows,
            }
        )
        tables = (first, *tables[1:])
    return plan.replace(
        logfile_groups=(LogfileGroup(id="log", name="lg", undo_files=(undo,)),),
        tablespaces=(Tablespace(id="space", name="ts", logfile_group_id="log", data_files=(data,)),),
        tables=tables,
    )
