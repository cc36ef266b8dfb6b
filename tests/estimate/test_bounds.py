"""Physical bounds: nothing is copied, written, read or computed faster than its links, disks and threads can.

Laws over drawn plans of every version: the low end of each range keeps them too.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st

from drawn_loads import loaded_plans
from ndbplan.base.errors import UserError
from ndbplan.base.quantity import Term
from ndbplan.checks.run import check
from ndbplan.configuration.directories import disk_for
from ndbplan.configuration.node_groups import node_groups
from ndbplan.configuration.settings import is_diskless, node_settings
from ndbplan.edits import parts as edits
from ndbplan.edits import validated
from ndbplan.edits.growth import add_node_group
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.grown import reorganise
from ndbplan.estimate.storage.rows import row_layout
from ndbplan.estimate.stored import node_data_by_id, node_data_by_logging
from ndbplan.estimate.timed import backup, machines_of, restart, restore_backup
from ndbplan.estimate.times.disk_files import files_to_create
from ndbplan.estimate.times.restart import Conditions, RestartEstimate
from ndbplan.estimate.times.running import Files
from ndbplan.operations.add_nodes import add_nodes
from ndbplan.plan.hardware import Location
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import LogfileGroup, Tablespace

NEAR = 1 - 1e-6
SPEEDS = st.sampled_from([1e6, 5.7e7, 1e9])
VERSIONS = ("6.3", "7.0.9", "7.1", "7.2", "7.3", "7.4", "7.5", "7.6", "8.0", "8.4", "9.x")


@st.composite
def slow_plans(draw: st.DrawFn) -> Plan:
    """A loaded plan whose disks, links and processors are slow or fast, some with columns on disk."""
    plan = draw(loaded_plans())
    for host in plan.hosts:
        plan = edits.update(
            plan, host.id, network_bytes_per_s=draw(SPEEDS), cores=draw(st.sampled_from([1, 2, 8, 32]))
        )
        for disk in host.disks:
            plan = edits.update(
                plan,
                disk.id,
                sequential_read_bytes_per_s=draw(SPEEDS),
                sequential_write_bytes_per_s=draw(SPEEDS),
                other_load=draw(st.sampled_from([0.0, 0.5])),
            )
    for place in plan.locations:
        plan = edits.update(plan, place.id, uplink_bytes_per_s=draw(st.none() | SPEEDS))
    return on_disk(plan) if draw(st.booleans()) else plan


def on_disk(plan: Plan) -> Plan:
    """The plan with every column that may be on disk there."""
    group = LogfileGroup(id="lg", name="lg", undo_files=({"name": "u", "size_bytes": 2**30},))
    space = Tablespace(
        id="ts",
        name="ts",
        logfile_group_id="lg",
        data_files=({"name": "d", "size_bytes": 2**32, "count": 3},),
    )
    tables = []
    for table in plan.tables:
        keys = {*table.primary_key, *(name for index in table.indexes for name in index.columns)}
        columns = tuple(
            c if c.name in keys or not table.primary_key else validated.changed(c, storage="disk")
            for c in table.columns
        )
        moved = columns != table.columns
        tables.append(validated.changed(table, columns=columns, tablespace_id="ts" if moved else None))
    return plan.replace(logfile_groups=(group,), tablespaces=(space,), tables=tuple(tables))


def seconds(found: RestartEstimate, name: str) -> float:
    """The low end of a phase; 0 when there is none."""
    return next((p.duration_s.low for p in found.phases if p.name == name), 0.0)


def bytes_of_rows(plan: Plan, node_id: int) -> float:
    """Bytes of all rows on a node, worked out from the layouts alone: memory, and values on disk."""
    data = node_data_by_id(plan).get(node_id)
    if data is None:
        return 0.0
    if any(row_layout(t, plan.version).disk_words for t in plan.tables if t.rows):
        assert data.disk_page_bytes >= data.disk_row_bytes * NEAR
    return data.row_bytes + data.disk_row_bytes


@given(slow_plans())
@settings(max_examples=6, derandomize=True, phases=[Phase.generate], deadline=None)
def test_no_copy_is_faster_than_its_links(plan: Plan) -> None:
    for group in node_groups(plan):
        # Where rows have one copy there is nobody to copy from.
        for node in group[:1] if len(group) > 1 else ():
            found = restart(plan, "initial", node.node_id)
            size = bytes_of_rows(plan, node.node_id)
            assert found.bytes_moved == pytest.approx(size)
            mates = [m for m in group if m is not node and m.host_id != node.host_id]
            if not mates or any(m.host_id == node.host_id for m in group if m is not node):
                continue
            host = plan.host(node.host_id)
            out = sum(plan.host(m.host_id).network_bytes_per_s for m in mates)
            assert seconds(found, "copy fragments") >= size / host.network_bytes_per_s * NEAR
            assert seconds(found, "copy fragments") >= size / out * NEAR
            for place in plan.locations:
                up = place.uplink_bytes_per_s
                away = [m for m in mates if plan.host(m.host_id).location_id != host.location_id]
                if up is not None and place.id == host.location_id and len(away) == len(mates):
                    assert seconds(found, "copy fragments") >= size / up * NEAR


@given(slow_plans())
@settings(max_examples=6, derandomize=True, phases=[Phase.generate], deadline=None)
def test_no_start_is_faster_than_its_disks(plan: Plan) -> None:
    for group in node_groups(plan):
        node = group[0]
        data = node_data_by_id(plan).get(node.node_id)
        disk = disk_for(plan, node, DiskRole.LCP)
        if data is None or disk is None:
            continue
        packed = (
            0.5 if node.parameters.get("CompressedLCP", plan.parameters.data_node.get("CompressedLCP")) else 1
        )
        free = 1 - disk.other_load
        for kind in ("node", "system"):
            read = data.checkpoint_bytes * packed / (disk.sequential_read_bytes_per_s * free)
            found = restart(plan, kind, node.node_id if kind == "node" else None)
            assert seconds(found, "restore from local checkpoint") >= read * NEAR
        log = 3e9
        redo = disk_for(plan, node, DiskRole.REDO)
        replayed = restart(plan, "node", node.node_id, Conditions(redo_bytes=log))
        assert redo is not None
        assert seconds(replayed, "execute redo log") >= log / redo.sequential_read_bytes_per_s * NEAR
        if len(group) == 1:
            # Where rows have one copy, an initial restart is a first start: of an empty cluster.
            continue
        initial = restart(plan, "initial", node.node_id)
        written = data.checkpoint_bytes * packed / (disk.sequential_write_bytes_per_s * free)
        assert seconds(initial, "wait for local checkpoint") >= written * NEAR
        created = files_to_create(
            Files(plan.logfile_groups, plan.tablespaces), machines_of(plan).by_id[node.node_id]
        )
        files = sum(f.size_bytes * f.count / f.disk.sequential_write_bytes_per_s for f in created)
        assert seconds(initial, "create undo and data files") >= files * NEAR
        pages = disk_for(plan, node, DiskRole.DATA_FILES)
        assert pages is not None
        copied = data.disk_page_bytes / pages.sequential_write_bytes_per_s
        assert seconds(initial, "copy fragments") >= copied * NEAR


@given(slow_plans())
@settings(max_examples=6, derandomize=True, phases=[Phase.generate], deadline=None)
def test_rows_without_logging_come_from_other_nodes_or_are_gone(plan: Plan) -> None:
    assume(all(len(group) > 1 for group in node_groups(plan)))
    assume(not is_diskless(node_settings(plan)))
    logged = plan.replace(tables=tuple(table.model_copy(update={"logging": True}) for table in plan.tables))
    largest = max(logged.tables, key=lambda table: table.rows)
    assume(largest.rows and all(column.storage == "memory" for column in largest.columns))
    one = edits.update(logged, largest.id, logging=False)
    none = logged.replace(tables=tuple(table.model_copy(update={"logging": False}) for table in plan.tables))
    for group in node_groups(plan):
        node, *mates = group
        held = node_data_by_logging(one, False).get(node.node_id)
        if held is None:
            continue
        found = restart(one, "node", node.node_id)
        assert found.bytes_moved >= held.moved_bytes * NEAR
        if node.host_id not in {mate.host_id for mate in mates}:
            network = plan.host(node.host_id).network_bytes_per_s
            assert seconds(found, "copy fragments") >= held.moved_bytes / network * NEAR
        all_of_it = node_data_by_id(plan)[node.node_id].moved_bytes
        assert restart(none, "node", node.node_id).bytes_moved == pytest.approx(all_of_it)
    whole, without, empty = (restart(each, "system") for each in (logged, one, none))
    for name in ("restore from local checkpoint", "rebuild ordered indexes"):
        assert seconds(whole, name) >= seconds(without, name) * NEAR
        assert seconds(empty, name) == 0
    assert largest.full_name in " ".join(without.notes)


@given(slow_plans())
@settings(max_examples=6, derandomize=True, phases=[Phase.generate], deadline=None)
def test_a_backup_writes_all_rows_and_no_faster_than_the_disk(plan: Plan) -> None:
    found = backup(plan, plan.workloads[0])
    by_id = {node.node_id: node for node in plan.data_nodes}
    for node in found.nodes:
        data = node_data_by_id(plan)[node.node_id]
        bare = data.saved_bytes
        if by_id[node.node_id].parameters.get("CompressedBackup") or plan.parameters.data_node.get(
            "CompressedBackup"
        ):
            bare *= 0.3
        assert node.written_bytes.low >= bare * NEAR
        disk = disk_for(plan, by_id[node.node_id], DiskRole.BACKUP)
        if disk is not None:
            free = disk.sequential_write_bytes_per_s * (1 - disk.other_load)
            assert node.duration_s.low >= node.written_bytes.low / free * NEAR
        source = disk_for(plan, by_id[node.node_id], DiskRole.DATA_FILES)
        if source is not None:
            read = data.primary_disk_page_bytes / source.sequential_read_bytes_per_s
            assert node.duration_s.low >= read * NEAR
    restored = next(p for p in restore_backup(plan).phases if p.name == "restore rows").duration_s.low
    for node_id, data in node_data_by_id(plan).items():
        disk = disk_for(plan, by_id[node_id], DiskRole.DATA_FILES)
        if disk is not None:
            assert restored >= data.disk_page_bytes / disk.sequential_write_bytes_per_s * NEAR


@given(slow_plans())
@settings(max_examples=6, derandomize=True, phases=[Phase.generate], deadline=None)
def test_no_reorganisation_is_faster_than_its_links_and_disks(plan: Plan) -> None:
    assume(plan.version >= (7, 0))
    found = reorganise(plan, 1, plan.workloads[0])
    after = found.plan_after
    new = [n for n in after.data_nodes if n.node_id not in {m.node_id for g in node_groups(plan) for m in g}]
    for table in found.tables:
        if not table.moves or not table.rows_moved:
            continue
        layout = row_layout(plan.table(table.table), plan.version)
        size = table.rows_moved * (layout.fixed_bytes + layout.variable_bytes)
        assert table.redistribution.bytes_moved >= size * NEAR - 1
        into = sum(after.host(n.host_id).network_bytes_per_s for n in new)
        assert table.duration_s.low >= table.redistribution.bytes_moved / into * NEAR
    for peak in found.tablespaces:
        assert peak.fits == (peak.used_bytes.value <= peak.capacity_bytes)


@given(slow_plans(), st.sampled_from(["node", "initial", "system", "rolling"]))
@settings(max_examples=6, derandomize=True, phases=[Phase.generate], deadline=None)
def test_more_ldm_threads_are_never_slower(plan: Plan, kind: Any) -> None:
    times = [restart(plan, kind, conditions=Conditions(ldm_threads=n)).duration_s for n in (1, 2, 4, 8, 16)]
    for fewer, more in pairwise(times):
        assert more.value <= fewer.value * (1 + 1e-9)
        assert more.low <= fewer.low * (1 + 1e-9)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", ["node", "system", "initial"])
def test_more_ldm_threads_are_faster_where_cores_are(version: str, kind: Any) -> None:
    plan = edits.set_plan(sample_plan("node-restart"), ndb_version=version)
    for host in plan.hosts:
        plan = edits.update(plan, host.id, cores=8)
        plan = edits.update(plan, host.disks[0].id, sequential_read_bytes_per_s=1e9)
    few, many = (restart(plan, kind, conditions=Conditions(ldm_threads=n)).duration_s.value for n in (2, 8))
    if kind == "initial" and plan.version < (7, 4, 1):
        # One fragment after the other, indexes kept up meanwhile: threads gain nothing.
        assert many == pytest.approx(few)
    else:
        assert many < 0.9 * few


@given(slow_plans())
@settings(max_examples=6, derandomize=True, phases=[Phase.generate], deadline=None)
def test_columns_on_disk_never_make_bytes_vanish(plan: Plan) -> None:
    moved = on_disk(plan)
    for node_id, data in node_data_by_id(plan).items():
        after = node_data_by_id(moved)[node_id]
        # What leaves a row in memory is its value; what it leaves there and takes on disk is no less.
        words = 4 * 2 * data.rows
        assert after.moved_bytes >= (data.moved_bytes - words) * NEAR


def test_restarts_that_share_an_uplink_wait_for_it() -> None:
    plan = add_node_group(sample_plan("starter"))
    members = node_groups(plan)
    place = Location(id="far", name="Far room", uplink_bytes_per_s=1e7)
    plan = plan.replace(locations=(*plan.locations, place))
    first, second = members[0][0], members[1][0]
    for node in (first, second):
        plan = edits.update(plan, node.host_id, location_id="far")
    alone = restart(plan, "initial", first.node_id)
    both = restart(plan, "initial", first.node_id, Conditions(restarting=(second.node_id,)))
    name = "copy fragments"
    assert seconds(both, name) > 1.9 * seconds(alone, name)
    copying = next(p for p in both.phases if p.name == name)
    assert copying.bound == "uplink of Far room"
    assert any(term.term == "limited by: uplink of Far room" for term in _terms(copying.duration_s.why))


def _terms(why: tuple[Term, ...]) -> Iterator[Term]:
    """All steps of a derivation."""
    for term in why:
        yield term
        yield from _terms(term.why)


def test_a_skewed_table_makes_every_phase_wait_for_its_fullest_thread() -> None:
    plan = sample_plan("terabyte-load")
    table = max(plan.tables, key=lambda t: t.rows)
    count = 16
    even = edits.update(plan, table.id, partition_rows=tuple([table.rows // count] * count))
    rows = [table.rows // count] * count
    rows[0] += rows[0] // 2
    skewed = edits.update(plan, table.id, rows=sum(rows), partition_rows=tuple(rows))
    even = edits.update(even, table.id, rows=sum(even.table(table.id).partition_rows))
    for name in ("restore from local checkpoint", "rebuild ordered indexes"):
        before, after = (
            max(p.duration_s.value for n in (1, 2) for p in _of(q, n).phases if p.name == name)
            for q in (even, skewed)
        )
        # Indexes whose keys come in no order, of other tables, take most of the second phase.
        assert after > 1.03 * before


def _of(plan: Plan, index: int) -> RestartEstimate:
    return restart(plan, "node", sorted(n.node_id for n in plan.data_nodes)[index - 1])


def test_the_slow_link_of_2009() -> None:
    plan = sample_plan("node-restart")
    for host in plan.hosts:
        plan = edits.update(plan, host.id, network_bytes_per_s=1.17e6)
    found = restart(plan, "initial")
    assert found.duration_s.low > 85 * 60
    copying = next(p for p in found.phases if p.name == "copy fragments")
    assert copying.bound.startswith("network of host ")
    assert any(term.term == f"limited by: {copying.bound}" for term in _terms(copying.duration_s.why))


def test_disk_data_is_counted_in_every_operation() -> None:
    plan = edits.set_plan(sample_plan("disk-data"), ndb_version="8.4")
    assert all(5e9 < node.written_bytes.value < 6e9 for node in backup(plan).nodes)
    assert backup(plan).duration_s.low > 5e9 / 57e6
    initial = restart(plan, "initial")
    assert initial.bytes_moved == pytest.approx(10.39e9, rel=0.01)
    assert initial.duration_s.low > (10e9 + 32 * 2**30) / 57e6
    change = reorganise(plan)
    assert sum(t.redistribution.bytes_moved for t in change.tables) > 6.8e9
    assert change.duration_s.low > 6.8e9 / 4 / 57e6
    steps = add_nodes(Estimation(plan))
    start = steps.step("start-new")
    assert start is not None
    assert start.duration_s.low > 32 * 2**30 / 57e6
    assert any(p.name == "create undo and data files" for p in start.phases)
    spaces = [peak for peak in change.tablespaces if peak.is_new]
    assert len(spaces) == 2
    assert all(0.3 < peak.used_bytes.value / peak.capacity_bytes < 1 for peak in spaces)


def test_a_tablespace_that_new_nodes_overflow_is_an_error_of_the_procedure() -> None:
    plan = sample_plan("disk-data")
    plan = edits.set_plan(plan, ndb_version="8.4")
    space = plan.tablespaces[0]
    file = validated.changed(space.data_files[0], count=20)
    small = edits.update(plan, space.id, data_files=(file,))
    notes = [note for note in add_nodes(Estimation(small)).notes if note.startswith("error: tablespace")]
    assert len(notes) == 1
    assert space.name in notes[0]
    assert not any(note.startswith("error: tablespace") for note in add_nodes(Estimation(plan)).notes)


def test_what_does_not_fit_is_said_by_the_reorganisation_itself() -> None:
    plan = edits.set_plan(sample_plan("disk-data"), ndb_version="8.4")
    assert not reorganise(plan).problems
    space = plan.tablespaces[0]
    small = edits.update(plan, space.id, data_files=(validated.changed(space.data_files[0], count=20),))
    found = reorganise(small)
    assert [line for line in found.problems if line.startswith("error: tablespace")]
    assert found.to_json()["problems"] == list(found.problems)
    # It is an error of the plan as it stands, too.
    assert any(p.rule == "data-files" and p.severity == "error" for p in check(small))


def test_nodes_that_lack_the_same_memory_are_told_in_one_line_in_the_units_of_their_parameter() -> None:
    plan = sample_plan("starter")
    for _ in range(5):
        plan = add_node_group(plan)
    lines = reorganise(set_parameter(plan, "data_node", "DataMemory", 4 * 2**30)).problems
    assert len(lines) < 4, "not one for each of 14 nodes"
    assert all(line.startswith("error: nodes ") for line in lines)
    assert all("of DataMemory each and have 4 GiB" in line for line in lines)
    assert any("and 4 more need" in line for line in lines)


def test_threads_that_do_not_divide_the_log_parts_say_so() -> None:
    plan = edits.set_plan(sample_plan("terabyte-load"), ndb_version="7.6")
    plan = set_parameter(plan, "data_node", "NoOfFragmentLogParts", 16)
    said = {}
    for count in (8, 10, 16):
        text = f"main,ldm={{count={count}}},tc={{count=2}},recv,send,rep,io"
        found = restart(set_parameter(plan, "data_node", "ThreadConfig", text), "system")
        restoring = next(p for p in found.phases if p.name == "restore from local checkpoint")
        said[count] = [t for t in _terms(restoring.duration_s.why) if "do not divide" in t.source]
    assert not said[8]
    assert not said[16]
    assert said[10]
    assert all(t.value > 1.2 for t in said[10])


def test_old_plans_are_refused_in_one_line() -> None:
    with pytest.raises(UserError):
        reorganise(edits.set_plan(sample_plan("disk-data"), ndb_version="6.3"))
