"""What only the window shows of a plan, as text: why objects are full, colours of the canvas, losses, maps.

Every function here is one that `desktop/` asks, so a number that changes in it shows in no command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice, product
from typing import TYPE_CHECKING, Any

from golden.text import lines_of
from golden.texts import shape
from ndbplan.base.errors import UserError

if TYPE_CHECKING:
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.plan.plan import Plan

_FEW = 3
_SHADES = 12
_KINDS = ("restart", "first start", "backup", "reorganise", "load", "storage", "restore", "files")
_ROWS_OF = ("program", "import", "hand")


def described(plan: Plan) -> Iterator[str]:
    """All that is told of a plan by what tells it."""
    from ndbplan.estimate.estimation import Estimation, chosen_workload

    now = Estimation(plan, chosen_workload(plan)).work_out()
    for tell in (
        _titles,
        _full,
        _contents,
        _coloured,
        _lost,
        _set,
        _near,
        _linked,
        _charted,
        _mapped,
        _moved,
        _taken,
        _events,
    ):
        yield f"## {tell.__name__.strip('_')}"
        try:
            # What is told of several problems has a line for each.
            yield from (line.replace("\n", " / ") for line in tell(now))
        except UserError as refused:
            yield f"refused: {refused}"


def _some_of_each(plan: Plan) -> Iterator[Any]:
    """A few objects of each kind."""
    disks = [disk for host in plan.hosts for disk in host.disks]
    nodes = (plan.data_nodes, plan.management_nodes, plan.sql_nodes, plan.api_slots)
    stored = (plan.tables, plan.tablespaces, plan.logfile_groups)
    for those in (plan.hosts, disks, *nodes, *stored, plan.workloads, plan.locations):
        yield from those[:_FEW]


def _titles(now: Estimation) -> Iterator[str]:
    from ndbplan.describe.titles import display_name, event_line, how_called, subtitle, title

    plan = now.plan
    for part in _some_of_each(plan):
        yield f"{part.id}: {title(plan, part)} | {subtitle(plan, part)} | {display_name(plan, part)}"
    yield how_called(plan, [part.id for part in _some_of_each(plan)])
    for workload in plan.workloads:
        yield from (f"{event.at_s:g} s: {event_line(plan, event)}" for event in workload.events)


def _full(now: Estimation) -> Iterator[str]:
    from ndbplan.describe.breakdown import breakdowns

    for part in _some_of_each(now.plan):
        for one in breakdowns(now, part.id):
            yield f"{part.id}: {one.heading} | {one.about}"
            yield from lines_of(shape(one.rows), "rows")
            yield from (f"{notice.look}: {notice.heading}. {notice.text}" for notice in one.callouts)


def _contents(now: Estimation) -> Iterator[str]:
    from ndbplan.describe.contents import disk_contents, node_contents

    disks = [disk for host in now.plan.hosts for disk in host.disks]
    for found in (
        *(node_contents(now, node.node_id) for node in now.plan.data_nodes[:_FEW]),
        *(disk_contents(now, disk.id) for disk in disks[:_FEW]),
    ):
        missing = f"{found.missing_bytes:.0f} missing"
        yield f"{found.title}: {found.taken:.9g} of {found.capacity_bytes:.0f}, {missing}"
        yield from lines_of(shape(found.parts), "parts")


def _coloured(now: Estimation) -> Iterator[str]:
    from ndbplan.checks.run import find
    from ndbplan.describe.colouring import WAYS, Known, colour_by, disks_written
    from ndbplan.describe.estimated import loads_of, with_searched

    # As `known_of` has it; without trying the fixes, which takes seconds.
    problems = tuple(find(now.plan))
    loads = loads_of(now.plan, now, problems)
    known = Known(now.plan, loads, problems, written=disks_written(now.plan))
    # What doubling brings is searched for, and told by `what-matters`.
    for name in sorted(set(WAYS) - {"doubling", "change"}):
        found = colour_by(name, with_searched(name, known, now))
        yield f"{name}: {found.title} | {found.note}"
        for object_id, shade in islice(found.shades.items(), _SHADES):
            yield f"  {object_id}: {shade.tone} {shade.text} | {shade.why} | {shade.number}"
        yield from (f"  {one.tone}: {one.text} of {len(one.ids)}" for one in found.legend)


def _lost(now: Estimation) -> Iterator[str]:
    from ndbplan.describe.losses import meanings

    hosts, nodes = now.plan.hosts, now.plan.data_nodes
    asked = [[part.id] for part in _some_of_each(now.plan)]
    asked += [[one.id for one in hosts[:2]], [one.id for one in nodes[:2]], [one.id for one in nodes[1:3]]]
    for ids in asked:
        for name, loss, why in meanings(now.plan, ids):
            yield f"{', '.join(ids)}: {name}: {loss.verdict}, {loss.text} | {why}"


def _set(now: Estimation) -> Iterator[str]:
    from ndbplan.describe.parameters import parameter_rows

    for row in parameter_rows(now.plan, _ROWS_OF):
        yield f"{row.where} {row.section} {row.name} = {row.value}: {row.set_by}, {row.modelled}, {row.why}"


def _near(now: Estimation) -> Iterator[str]:
    from ndbplan.describe.measured_runs import near_runs

    yield from (f"{kind}: {near_runs(now.plan, kind)}" for kind in _KINDS)


def _linked(now: Estimation) -> Iterator[str]:
    from ndbplan.describe.traffic import links

    for link in islice(links(now.plan), _SHADES):
        yield f"{link.name}: {link.limit_bytes_per_s} of {', '.join(link.ids)}"


def _charted(now: Estimation) -> Iterator[str]:
    from ndbplan.exporting.gantt import gantt_svg
    from ndbplan.operations.procedure import Procedure, operation_of

    yield from gantt_svg(operation_of(now, Procedure(kind="add-nodes"))).splitlines()


def _mapped(now: Estimation) -> Iterator[str]:
    from ndbplan.estimate.storage.fill_map import fill_map
    from ndbplan.estimate.stored import distribute

    tables = [distribute(now.plan, table) for table in now.plan.tables]
    dead = [node.node_id for node in now.plan.data_nodes[:1]]
    if tables:
        for found in (
            fill_map(tables),
            fill_map(tables, "groups", "bytes"),
            fill_map(tables[:1], "nodes", "primaries", dead),
        ):
            yield from lines_of(shape(found))
            yield f"outside: {int(found.is_outside.sum())}"


def _moved(now: Estimation) -> Iterator[str]:
    from ndbplan.estimate.storage.bucket_moves import bucket_moves
    from ndbplan.estimate.stored import redistribute
    from ndbplan.operations.add_nodes import grown_configuration

    grown = grown_configuration(now.plan)
    for table in now.plan.tables[:_FEW]:
        moves = bucket_moves(redistribute(now.plan, grown, table))
        if moves is not None:
            yield f"{table.name}: {int(moves.moving.sum())} of {len(moves.rows)} buckets"
            for copied, deleted in ((0.0, 0.0), (0.3, 0.0), (1.0, 0.0), (1.0, 0.6), (1.0, 1.0)):
                yield from lines_of(shape(moves.at(copied, deleted)), f"{copied} {deleted}")


def _taken(now: Estimation) -> Iterator[str]:
    from ndbplan.base.frozen import FrozenMap
    from ndbplan.edits.from_host import chosen_for

    plan = now.plan
    bare = plan.replace(parameters=plan.parameters.model_copy(update={"data_node": FrozenMap()}))
    for node in plan.data_nodes[:1]:
        yield from (one.line for given in (plan, bare) for one in chosen_for(given, node)[1])


def _events(now: Estimation) -> Iterator[str]:
    from ndbplan.edits.events import killed, usual
    from ndbplan.plan.events import kinds

    plan = now.plan
    for kind in kinds():
        yield from _told(lambda kind=kind: f"{kind}: {usual(plan, kind, 60.0)}")
    for workload in plan.workloads[:1]:
        for part, back in product(_some_of_each(plan), (None, 0.5, 60.0)):
            yield from _told(
                lambda at=workload.id, part=part, back=back: str(
                    killed(plan, at, [part.id], 30.0, back).workload(at).events[-1]
                )
            )


def _told(tell: Callable[[], str]) -> Iterator[str]:
    try:
        yield tell()
    except UserError as refused:
        yield f"refused: {refused}"
