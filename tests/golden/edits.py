"""What people do to a plan in the window, deed by deed, and what each leaves changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from golden.text import lines_of
from ndbplan.base.errors import UserError
from ndbplan.edits import (
    arrange,
    arrays,
    clipboard,
    disk_data,
    disks,
    events,
    first_steps,
    from_host,
    growth,
    load_shapes,
    offers,
    parts,
    pasted_tables,
    roles,
    solutions,
    tables,
)
from ndbplan.plan.events import kinds
from ndbplan.plan.fields import Point
from ndbplan.plan.file import dumps
from ndbplan.plan.plan import EMPTY_PLAN, Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan

_PLANS: dict[str, Callable[[], Plan]] = {
    "starter": lambda: sample_plan("starter"),
    "disk-data-8.4": lambda: sample_plan("disk-data-8.4"),
    "empty": lambda: EMPTY_PLAN,
}


def changed_by_edits() -> Iterator[str]:
    """Each deed on each plan with the lines of the plan file that came and went."""
    for name, made in _PLANS.items():
        plan = made()
        before = list(lines_of(json.loads(dumps(plan))))
        for title, deed in _DEEDS.items():
            try:
                done = deed(plan)
            except (LookupError, StopIteration):
                continue  # The plan has no such part.
            except UserError as refused:
                done = (f"refused: {refused}",)
            yield f"## {name}: {title}"
            for one in done if isinstance(done, tuple) else (done,):
                if not isinstance(one, Plan):
                    yield f"{one}"
                    continue
                now = list(lines_of(json.loads(dumps(one))))
                yield from (line for line in now if line not in before)
                yield from (f"gone: {line}" for line in before if line not in now)


def _host(plan: Plan) -> str:
    return plan.hosts[0].id


def _disk(plan: Plan, place: int = 0) -> str:
    return plan.hosts[0].disks[place].id


def _load(plan: Plan) -> str:
    return plan.workloads[0].id


def _node(plan: Plan) -> str:
    return plan.data_nodes[0].id


def _with_load(plan: Plan, load: Any) -> Plan:
    return parts.update(plan, _load(plan), load=load)


def _event(kind: str) -> Callable[[Plan], Plan]:
    return lambda plan: events.added(plan, _load(plan), kind)


_DEEDS: dict[str, Callable[[Plan], Any]] = {
    "the first host into the last location": lambda p: arrange.put_into_location(
        p, [_host(p)], p.locations[-1].id
    ),
    "the last host before the first": lambda p: arrange.put_into_location(
        p, [p.hosts[-1].id], p.locations[0].id, _host(p)
    ),
    "a location into another": lambda p: arrange.put_inside(p, [p.locations[0].id], p.locations[1].id),
    "hosts out of their locations": lambda p: arrange.put_on_canvas(p, {_host(p): Point(x=10, y=20)}),
    "API slots anywhere": lambda p: arrange.put_anywhere(
        p, [slot.id for slot in p.api_slots], Point(x=1, y=2)
    ),
    "tidy": arrange.tidy,
    "RAID 10": lambda p: arrays.put_level(p, _disk(p), "10"),
    "RAID 5 of five": lambda p: arrays.put_devices(arrays.put_level(p, _disk(p), "5"), _disk(p), 5),
    "RAID 1 of three": lambda p: arrays.put_devices(arrays.put_level(p, _disk(p), "1"), _disk(p), 3),
    "RAID 7": lambda p: arrays.put_level(p, _disk(p), "7"),
    "two devices, then one": lambda p: arrays.put_devices(arrays.put_devices(p, _disk(p), 2), _disk(p), 1),
    "a host copied": lambda p: clipboard.paste(p, clipboard.copy(p, [_host(p)])),
    "a location copied": lambda p: clipboard.paste(p, clipboard.copy(p, [p.locations[0].id])),
    "a node copied onto its host": lambda p: clipboard.paste(
        p, clipboard.copy(p, [_node(p)]), onto_host=_host(p)
    ),
    "a disk copied": lambda p: clipboard.paste(p, clipboard.copy(p, [_disk(p)]), onto_host=p.hosts[-1].id),
    "a table and a load copied": lambda p: clipboard.paste(p, clipboard.copy(p, [p.tables[0].id, _load(p)])),
    "text pasted": lambda p: clipboard.paste(p, "no plan"),
    "roles moved to the last disk": lambda p: disks.move_roles(p, _disk(p), _disk(p, -1)),
    "a disk to the last host": lambda p: disks.move_disk(p, _disk(p), p.hosts[-1].id),
    "a role to another disk": lambda p: roles.assign_role(p, _node(p), DiskRole.BACKUP, _disk(p, -1)),
    "a node to the last host": lambda p: roles.move_process(p, _node(p), p.hosts[-1].id),
    "a tablespace": disk_data.with_tablespace,
    "a table into a new tablespace": lambda p: disk_data.IntoTablespace(p.tables[0].id, None)(p),
    "a table kept in memory": lambda p: disk_data.KeepInMemory(p.tables[0].id)(p),
    "larger data files": lambda p: disk_data.GrowFiles(p.tablespaces[0].id, 10**12)(p),
    "larger undo files": lambda p: disk_data.GrowFiles(p.logfile_groups[0].id, 10**11)(p),
    "fewer files": lambda p: disk_data.FewerFiles(p.tablespaces[0].id, 1)(p),
    "more files": lambda p: disk_data.MoreFiles(p.tablespaces[0].id, 3)(p),
    "folders to choose": lambda p: tuple(map(str, disk_data.folders_to_choose(p))),
    "names of files": lambda p: disk_data.next_file_name(p, p.tablespaces[0].data_files),
    **{f"event {kind}": _event(kind) for kind in kinds()},
    "killed for a minute": lambda p: events.killed(
        p, _load(p), [p.data_nodes[0].id, p.sql_nodes[0].id, _host(p), _disk(p)], 60.0, 60.0
    ),
    "killed, and started again": lambda p: events.started_again(
        events.killed(p, _load(p), [_node(p), _disk(p)], 60.0), _load(p), [_node(p), _disk(p)], 90.0
    ),
    "started again while it runs": lambda p: events.started_again(p, _load(p), [p.sql_nodes[0].id], 90.0),
    "a disk slowed": lambda p: events.slowed(p, _load(p), [_disk(p)], 0.25, 30.0, 20.0),
    "a disk faster": lambda p: events.slowed(p, _load(p), [_disk(p)], 1.0, 30.0),
    "a disk filled": lambda p: events.filled(p, _load(p), [_disk(p)], 30.0, 5.0),
    "a host cut off": lambda p: events.cut_off(p, _load(p), [_host(p)], 30.0),
    "a link slowed": lambda p: events.slowed_link(p, _load(p), [_host(p)], 30.0, 0.5, 10.0),
    "what is lacking": lambda p: (str(first_steps.lacking(p)), first_steps.said_lacking(p)),
    "a small cluster": first_steps.small_cluster,
    "settings of its host": lambda p: from_host.with_settings_of(p, _node(p))[0],
    "settled anew": from_host.settled_anew,
    "two node groups more": lambda p: growth.add_node_group(p, 2),
    "a ramp": lambda p: _with_load(p, load_shapes.ramp(100, 500, 60.0, 10.0)),
    "steps": lambda p: _with_load(p, load_shapes.steps((100, 300, 200), 20.0)),
    "a day": lambda p: _with_load(p, load_shapes.diurnal(1000, 0.2)),
    "a burst": lambda p: _with_load(p, load_shapes.burst(100, 900, 30.0, 10.0)),
    "closed clients": lambda p: load_shapes.put_load_kind(p, _load(p), "closed"),
    "a job": lambda p: load_shapes.put_load_kind(p, _load(p), "job"),
    "closed, then open": lambda p: load_shapes.put_load_kind(
        load_shapes.put_load_kind(p, _load(p), "closed"), _load(p), "open"
    ),
    "a load of its tables": lambda p: parts.add(p, offers.workload_of_tables(p)),
    "a table, a column, an index": lambda p: parts.add(p, offers.make_table(p)),
    "pasted figures": lambda p: pasted_tables.put_pasted(
        p, f"table\trows\tgrowth\n{p.tables[0].name}\t20M\t1M\nnobody\t3\n"
    ),
    "a primary key of the last column": lambda p: tables.put_primary_key(
        p, p.tables[0].id, (p.tables[0].columns[-1].name,)
    ),
    "no first column": lambda p: tables.put_columns(p, p.tables[0].id, p.tables[0].columns[1:]),
    "a host with 100 GB": lambda p: solutions.host_memory(p, [_host(p)], solutions.module_size(10**11)),
    "twice the connections": lambda p: solutions.times_connections(p, 2),
    "more room in tablespaces": lambda p: solutions.more_space(p, 2.5, 100),
    "larger files of tablespaces": lambda p: solutions.more_space(p, 2.5, 1),
    "faster disks of the log": lambda p: solutions.faster_disks(p, DiskRole.REDO),
    "a faster network": solutions.faster_network,
    "more cores": solutions.more_cores,
    "sizes": lambda p: tuple(
        f"{size:.0f}: {solutions.memory_size(size)}, {solutions.memory_size_within(size)}, "
        f"{solutions.module_size(size)}"
        for size in (1.0, 5e8, 8.6e9, 9e9, 1.5e10, 7e10)
    ),
    "the first host removed": lambda p: parts.remove(p, [_host(p)]),
    "the first node removed": lambda p: parts.remove(p, [_node(p)]),
    "the first table removed": lambda p: parts.remove(p, [p.tables[0].id]),
    "the first location removed": lambda p: parts.remove(p, [p.locations[0].id]),
}
