"""Marks of figures: at a run that was measured, between runs, beyond them; ranges grow with the distance."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ndbplan.base.errors import UserError
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.shapes import as_json
from ndbplan.configuration.node_groups import node_groups
from ndbplan.edits.parameters import set_parameter
from ndbplan.estimate import stored
from ndbplan.estimate.estimation import Estimation, chosen_workload
from ndbplan.estimate.grown import grow, reorganise
from ndbplan.estimate.load.checkpoint import checkpoint as checkpoint_of
from ndbplan.estimate.load.cpu import CpuEstimate, HostCpu
from ndbplan.estimate.load.redo import redo as redo_of
from ndbplan.estimate.loaded import checkpoint, node_loads, redo, stored_loads
from ndbplan.estimate.space.disk_space import disk_space
from ndbplan.estimate.space.file_sizes import GROW_WITH_ROWS
from ndbplan.estimate.stored import machines_of, node_data_by_id, reach, situation
from ndbplan.estimate.timed import backup, create_disk_data, restart, restore_backup
from ndbplan.ndb.nearness import Nearness, Situation, kinds, nearness, slowest_disk_bytes_per_s
from ndbplan.ndb.version import NdbVersion
from ndbplan.plan.plan import Plan
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.tables import Column
from random_plans import random_plan

MEASURED = Situation(NdbVersion.parse("8.4.8"), 2, 2, 1e6, 1040, 1e9)
KINDS = st.sampled_from(kinds())
AXES = st.sampled_from(Situation._fields[1:])


def test_a_plan_like_a_run_is_measured_and_names_it() -> None:
    near = nearness("restart", MEASURED)
    assert near.mark == "measured"
    assert near.nearest[0] == "8.4.8, 1 M rows"


def test_a_plan_between_runs_and_one_beyond_say_so() -> None:
    assert nearness("restart", MEASURED._replace(rows=1e8)).mark == "between"
    assert nearness("restart", MEASURED._replace(version=NdbVersion.parse("8.0.30"))).mark == "between"
    assert nearness("restart", MEASURED._replace(nodes=48)).mark == "beyond"
    assert nearness("restart", MEASURED._replace(version=NdbVersion.parse("6.3.20"))).mark == "beyond"


def test_a_version_whose_server_nobody_asked_says_what_its_rules_rest_on() -> None:
    """Plans of 8.0 did not tell beside any figure that its rules are interpolated."""
    of = {
        version: nearness("storage", MEASURED._replace(version=NdbVersion.parse(version))).to_json()["rules"]
        for version in ("7.4.10", "8.4.8", "8.4", "7.6.7", "8.2.0", "8.0.34", "9.1.0")
    }
    assert of["7.4.10"] == of["8.4.8"] == of["8.4"] == ""
    for version in ("7.6.7", "8.2.0", "8.0.34"):
        assert of[version] == f"rules of NDB {version} are interpolated from manuals, 7.4.10 and 8.4.8"
    assert "extrapolated from manuals and 8.4.8" in of["9.1.0"]


def test_a_series_is_as_near_as_the_release_of_it_that_was_measured() -> None:
    """A plan of 8.4, as all samples are, lay a factor of two beyond the runs of 8.4.8 that it is like."""
    for kind in kinds():
        series = nearness(kind, MEASURED._replace(version=NdbVersion.parse("8.4")))
        assert series == nearness(kind, MEASURED)
    assert nearness("restart", MEASURED._replace(version=NdbVersion.parse("8.4.9"))).mark == "beyond"


def test_more_log_parts_than_in_any_run_are_beyond_the_loads_that_were_measured() -> None:
    """Their number decides what a checkpoint takes of a disk; 32 parts were as good as the four measured."""
    plan = sample_plan("redo-overload-8.4")

    def near(parts: int, kind: str = "load") -> Nearness:
        return reach(set_parameter(plan, "data_node", "NoOfFragmentLogParts", parts), kind)

    assert near(4).distance == 0
    assert [near(parts).mark for parts in (6, 8, 32)] == ["beyond"] * 3
    assert near(4).room < near(8).room < near(32).room
    assert near(32, "storage") == near(4, "storage")


def test_other_cores_than_those_that_were_timed_are_beyond_measurement() -> None:
    """A quarter more or less is not told apart: clocks of the machines were not recorded."""
    plan = sample_plan("measured-7.4.10")

    def near(ghz: float, kind: str = "restart") -> str:
        hosts = tuple(host.model_copy(update={"clock_ghz": ghz}) for host in plan.hosts)
        return reach(plan.replace(hosts=hosts), kind).mark

    assert near(2.5) == near(3.0) == near(2.1) == "measured"
    assert near(5.0) == near(0.5) == "beyond"
    assert near(5.0, "storage") == near(2.5, "storage")


@given(KINDS, AXES, st.floats(1, 1e4), st.floats(1, 1e4), st.booleans())
def test_moving_away_from_all_runs_never_narrows_a_range(
    kind: str, axis: str, first: float, second: float, up: bool
) -> None:
    near, far = sorted((first, second))
    found = Quantity(10.0, 5.0, 20.0, "s")
    widths = []
    for factor in (near, far):
        # From the outermost run of the axis on.
        edge = 1e10 if up else 1e-2
        moved = MEASURED._replace(**{axis: edge * factor if up else edge / factor})
        wide = nearness(kind, moved).widened(found)
        widths.append(wide.high / wide.low)
    assert 4.0 <= widths[0] <= widths[1] * (1 + 1e-9)


def test_fewer_rows_than_in_any_run_are_no_other_work() -> None:
    """The start of a node with 1,000 rows, which takes 5 ms more than that of an empty one, was 1.8 wide, the
    empty one's 1.3: 25 to 46 s for 1,000 rows, 34 to 43 s for a million."""
    few, none = (nearness("restart", MEASURED._replace(rows=rows)) for rows in (1e3, 0))
    assert few.mark == "beyond"
    assert few.distance > 2
    assert few.room == none.room == 1
    odd = [nearness("restart", MEASURED._replace(rows=rows, row_bytes=1e5)).room for rows in (1e6, 1e4, 10)]
    assert odd[0] > odd[1] > odd[2] > 1
    assert odd[2] == pytest.approx(1, abs=1e-3)
    assert nearness("restart", MEASURED._replace(rows=1e11)).room > 1.1


def test_what_is_certain_stays_certain_and_no_range_goes_beyond_what_can_be() -> None:
    far = nearness("load", MEASURED._replace(nodes=100))
    assert far.room > 1
    assert far.widened(Quantity.exact(10.0, "s")) == Quantity.exact(10.0, "s")
    wide = far.widened(Quantity(0.9, 0.8, 0.99, "fraction"), 1.0)
    assert wide.low == 0.8 / far.room
    assert wide.high == 1.0


def test_figures_that_rows_share_are_one_object_when_they_are_widened_too() -> None:
    used, far = Quantity(0.5, 0.4, 0.6, "fraction"), nearness("load", MEASURED._replace(nodes=144))
    rows = tuple(HostCpu(f"h{number}", "host", used, True, used) for number in range(1500))
    with keeping():
        found = far.widened_throughout(CpuEstimate((), rows))
        again = far.widened_throughout(CpuEstimate((), rows[:1000]))
    assert {id(one.utilisation) for one in found.hosts} == {id(one.work) for one in found.hosts}
    assert found.hosts[0].work == far.widened(used) != used
    assert all(one is other for one, other in zip(found.hosts, again.hosts, strict=False))


def test_log_checkpoints_and_disk_space_of_a_plan_beyond_all_runs_are_less_certain() -> None:
    """What pieces say of a plan of 48 data nodes and of its disks, and what the plan says of them."""
    plan = sample_plan("telecom-144")
    workload, machines = plan.workloads[0], machines_of(plan)
    load, storage = reach(plan, "load"), reach(plan, "storage")
    assert min(load.room, storage.room) > 1
    loads = node_loads(plan, workload)
    measured = replace(load, room=1.0, room_below=1.0)
    log = redo_of(machines, loads, (), measured)
    cycles = checkpoint_of(
        machines,
        node_data_by_id(plan),
        {one.node_id: one for one in loads},
        stored_loads(plan, workload),
        measured,
    )
    for near, whole, piece in (
        (load, redo(plan, workload).time_to_full_s, log.time_to_full_s),
        (load, redo(plan, workload).nodes[3].device_bytes_per_s, log.nodes[3].device_bytes_per_s),
        (load, checkpoint(plan, workload).nodes[3].redo_needed_bytes, cycles.nodes[3].redo_needed_bytes),
        (load, checkpoint(plan, workload).nodes[3].duration_s, cycles.nodes[3].duration_s),
    ):
        assert whole == near.widened(piece)
        assert whole.high / whole.low == pytest.approx(near.room * near.room_below * piece.high / piece.low)
    files = disk_space(plan).nodes[3].of(DiskRole.LCP)
    assert files.high / files.low >= storage.room**2


def test_a_plan_is_like_runs_with_the_most_ldm_threads_that_a_node_of_it_has() -> None:
    plan = sample_plan("starter")
    counts = {node.id: 2 + 2 * n for n, node in enumerate(plan.data_nodes)}
    plan = set_parameter(plan, "data_node", "AutomaticThreadConfig", 0)
    for node_id, count in counts.items():
        plan = set_parameter(plan, node_id, "ThreadConfig", f"ldm={{count={count}}}")
    assert situation(plan).ldm == max(counts.values()) > min(counts.values())


LASTS: dict[str, tuple[str, Callable[[Plan], Quantity]]] = {
    "backup": ("backup", lambda plan: backup(plan).duration_s),
    "node restart": ("restart", lambda plan: restart(plan, "node").duration_s),
    "initial node restart": ("restart", lambda plan: restart(plan, "initial").duration_s),
    "system restart": ("restart", lambda plan: restart(plan, "system").duration_s),
    "first start": ("first start", lambda plan: restart(plan, "start").duration_s),
    "reorganise": ("reorganise", lambda plan: reorganise(plan, len(node_groups(plan))).duration_s),
}
WHOLE = ("measured-7.4.10", "starter", "node-restart-8.4", "disk-data-8.4", "redo-overload-8.4")


def with_disks(plan: Plan, bytes_per_s: float) -> Plan:
    """The plan with every disk as fast at writing in order, and at reading in proportion."""
    hosts = []
    for host in plan.hosts:
        disks = []
        for disk in host.disks:
            read = disk.sequential_read_bytes_per_s / disk.sequential_write_bytes_per_s
            speeds = {"sequential_write_bytes_per_s": bytes_per_s,
                      "sequential_read_bytes_per_s": bytes_per_s * read}  # fmt: skip
            disks.append(disk.model_copy(update=speeds))
        hosts.append(host.model_copy(update={"disks": tuple(disks)}))
    return plan.replace(hosts=tuple(hosts))


def with_rows(plan: Plan, factor: int) -> Plan:
    return plan.replace(
        tables=tuple(table.model_copy(update={"rows": table.rows * factor}) for table in plan.tables)
    )


@pytest.mark.parametrize("sample", WHOLE)
@pytest.mark.parametrize("operation", LASTS)
def test_a_whole_plan_that_moves_away_from_all_runs_is_no_surer(operation: str, sample: str) -> None:
    """A disk that took over as the limit had no range: a first start was 2.4 wide with the slowest disk that
    was measured, 1.6 with one of a tenth of that."""
    kind, lasts = LASTS[operation]
    plan, edge = sample_plan(sample), slowest_disk_bytes_per_s(kind)
    moved = {
        "disks": [with_disks(plan, edge / factor) for factor in (1, 2, 5, 20, 200)],
        "rows": [with_rows(plan, factor) for factor in (1, 10, 100)],
        "nodes": [with_rows(grow(plan, more), 1 + more) if more else plan for more in (0, 4, 11)],
    }
    for what, plans in moved.items():
        found = [lasts(one) for one in plans]
        widths = [one.high / one.low for one in found]
        for nearer, further in pairwise(widths):
            assert further >= nearer * (1 - 0.01), (what, [f"{one:.2f}" for one in widths])


def with_cores(plan: Plan, factor: float) -> Plan:
    hosts = (host.model_copy(update={"clock_ghz": (host.clock_ghz or 2.5) * factor}) for host in plan.hosts)
    return plan.replace(hosts=tuple(hosts))


def with_ldm(plan: Plan, count: int) -> Plan:
    plan = set_parameter(plan, "data_node", "ThreadConfig", f"main,rep,tc,recv,ldm={{count={count}}}")
    if plan.ndb_version < "8":
        return plan
    return set_parameter(plan, "data_node", "AutomaticThreadConfig", 0)


def with_log_parts(plan: Plan, count: int) -> Plan:
    return set_parameter(plan, "data_node", "NoOfFragmentLogParts", count)


def with_blobs(plan: Plan, size: int) -> Plan:
    blob = Column(name="another blob", type="longblob", average_bytes=size)
    return plan.replace(
        tables=tuple(t.model_copy(update={"columns": (*t.columns, blob)}) for t in plan.tables)
    )


AWAY: dict[str, list[Callable[[Plan], Plan]]] = {
    "quicker cores": [partial(with_cores, factor=factor) for factor in (2, 3, 5, 8)],
    "slower cores": [partial(with_cores, factor=factor) for factor in (0.5, 0.3, 0.1)],
    "LDM threads": [partial(with_ldm, count=count) for count in (4, 8, 16, 32)],
    "log parts": [partial(with_log_parts, count=count) for count in (4, 8, 16, 32)],
    "rows": [partial(with_rows, factor=factor) for factor in (1, 10, 100)],
    "blobs": [partial(with_blobs, size=size) for size in (20_000, 100_000, 1_000_000)],
}


@pytest.mark.parametrize("sample", WHOLE)
@pytest.mark.parametrize("what", AWAY)
def test_a_phase_further_away_is_no_surer_unless_something_better_known_takes_over(
    what: str, sample: str
) -> None:
    """Under one limit throughout, and taking no longer than before."""
    plan = sample_plan(sample)
    phases: dict[tuple[str, str], list[tuple[str, Quantity]]] = {}
    steps = AWAY[what]
    for step in steps:
        moved = step(plan)
        for kind in ("node", "initial", "system", "start"):
            for phase in restart(moved, kind).phases:
                phases.setdefault((kind, phase.name), []).append((phase.bound, phase.duration_s))
        node = backup(moved).nodes[0]
        phases.setdefault(("backup", ""), []).append((node.bound, node.duration_s))
    assert len(phases) > 5
    for name, found in phases.items():
        if len({bound for bound, _ in found}) > 1 or len(found) < len(steps):
            continue
        for (_, nearer), (_, further) in pairwise(found):
            if nearer.low > 0 and further.low > 0 and further.value <= nearer.value:
                assert further.high / further.low >= nearer.high / nearer.low * 0.99, name


@pytest.mark.parametrize("sample", WHOLE)
def test_parts_of_what_slower_disks_bind_are_no_surer(sample: str) -> None:
    """Tables of a reorganisation were 3.3 wide with the slowest disk that was measured, 1.9 with slower ones;
    the log that checkpoints need 3.9 and 3.5. What a checkpoint writes, and how fast, may well be surer: it
    is at most all rows, at no more than the speed of the disk."""
    plan = sample_plan(sample)
    asked: dict[str, Callable[[Plan], list[Quantity]]] = {
        "reorganise": lambda plan: [table.duration_s for table in reorganise(plan).tables],
        "load": lambda plan: [
            one
            for node in checkpoint(plan, chosen_workload(plan)).nodes
            for one in (node.duration_s, node.redo_needed_bytes, node.redo_fill)
        ],
    }
    for kind, ask in asked.items():
        edge = slowest_disk_bytes_per_s(kind)
        at_runs, *slower = (ask(with_disks(plan, edge / factor)) for factor in (1, 2, 5, 20))
        for found in slower:
            for nearer, further in zip(at_runs, found, strict=True):
                if nearer.low > 0:
                    assert further.high / further.low >= 0.99 * nearer.high / nearer.low, (kind, further)


def test_a_disk_that_is_the_limit_is_as_uncertain_as_those_that_were_timed() -> None:
    """Disks of 20 MB/s took 0.97 to 1.35 times what their speed says; a backup bound by one was 1.04 wide."""
    plan = with_disks(sample_plan("measured-7.4.10"), 2e7)
    found = backup(plan)
    assert found.nodes[0].bound.startswith("disk")
    assert found.duration_s.high / found.duration_s.low > 1.35


OF_OTHER_KINDS = (
    "estimate.distribution", "estimate.memory.hosts", "estimate.memory.nodes.ram_bytes",
    *(f"estimate.disk_space.files.{role.value}" for role in DiskRole if role not in GROW_WITH_ROWS),
)  # fmt: skip
"""The chance of keys; what nodes allocate, and files they make, for parameters, whatever rows they hold."""
WITH_KNOWN_PARTS = ("estimate.disk_space.disks", "estimate.disks.disks")
"""Sums of what is uncertain and of what is known to the byte."""


def _ranges(shape: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, float]]]:
    if isinstance(shape, dict):
        if {"value", "low", "high"} <= shape.keys():
            yield path, shape
        else:
            of_role = (shape["role"],) if "role" in shape else ()
            for key, one in shape.items():
                yield from _ranges(one, (*path, *of_role, key))
    elif isinstance(shape, list):
        for number, one in enumerate(shape):
            yield from _ranges(one, (*path, str(number)))


def marked_ranges(plan: Plan) -> dict[tuple[str, ...], dict[str, float]]:
    """Every range that a command prints with a mark: of estimates and of work on the cluster."""
    now = Estimation(plan, chosen_workload(plan))
    asked: dict[str, Callable[[], object]] = {
        "estimate": now.to_json,
        "backup": lambda: backup(plan, now.workload),
        "restore": lambda: restore_backup(plan),
        "files": lambda: create_disk_data(plan),
        "reorganise": lambda: reorganise(plan, 1, now.workload),
        **{kind: lambda kind=kind: restart(plan, kind) for kind in ("node", "initial", "system", "start")},
    }
    found = {}
    for name, ask in asked.items():
        try:
            found |= dict(_ranges(as_json(ask()), (name,)))
        except UserError:
            continue
    return found


@pytest.mark.parametrize("of", [*WHOLE, "telecom-144", *range(6)])
def test_every_figure_that_bears_a_mark_is_the_less_certain_the_further_the_plan_lies(
    of: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads, links, pages of disk data, phases of starts, nodes of a backup, restores and redo files had
    the range of a plan that was measured, however far the mark beside them said that it lay."""
    plan = sample_plan(of) if isinstance(of, str) else random_plan(of)
    found = []
    for room in (1.0, 1.1, 1.2):

        def near(kind: str, plan: Situation, room: float = room) -> Nearness:
            return replace(nearness(kind, plan), room=room, room_below=room)

        monkeypatch.setattr(stored, "nearness", near)
        # Another object, so that no answer is kept of it.
        found.append(marked_ranges(plan.replace()))
    assert len(found[0]) > 20
    for path, nearest in found[0].items():
        name = ".".join(part for part in path if not part.isdigit())
        if nearest["low"] == nearest["high"] or name.startswith(OF_OTHER_KINDS):
            continue
        for nearer, further in pairwise(one[path] for one in found):
            assert further["value"] == nearer["value"], path
            assert further["low"] <= nearer["low"], path
            assert further["high"] >= nearer["high"], path
            # What is known of one end, as what disks need at least, leaves that one.
            if not name.startswith(WITH_KNOWN_PARTS):
                assert (
                    further["low"] < nearer["low"] or further["high"] > nearer["high"] or not nearest["low"]
                ), path
