"""What the map of the distribution panel asks the engine, off the GUI thread, and the order it shows."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ndbplan.base.errors import UserError
from ndbplan.base.units import format_count, how_many
from ndbplan.desktop.analyses.fill_map_picture import Column, MapPicture
from ndbplan.plan.places import chain
from ndbplan.plan.plan import Plan

if TYPE_CHECKING:
    from ndbplan.configuration.failing_parts import Part
    from ndbplan.estimate.storage.fill_map import FillMap, Measure, Places
    from ndbplan.estimate.storage.fragments import TableDistribution
    from ndbplan.estimate.storage.lost_primaries import PrimariesAfter

Order = Literal["rack", "number", "fullest"]


@dataclass(frozen=True)
class MapQuestion:
    """Which tables, shown how, and what is lost."""

    plan: Plan
    table_id: str | None
    """None: all tables."""
    places: Places = "nodes"
    measure: Measure = "rows"
    order: Order = "rack"
    lost: Part | None = None


@dataclass(frozen=True)
class MapAnswer:
    """The picture, and what is said below it."""

    question: MapQuestion
    picture: MapPicture | None
    words: str = ""
    shorter: str = ""
    """The same where there is less room; nothing: there are no shorter words."""
    stops: bool = False
    """Whether the cluster stops with what is lost."""


def ask_map(question: MapQuestion) -> MapAnswer:
    """What lies where, and what becomes of primaries."""
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.estimate.storage.fill_map import fill_map
    from ndbplan.estimate.storage.lost_primaries import loss_of_primaries

    plan, now = question.plan, Estimation(question.plan)
    asked = [table for table in plan.tables if question.table_id in (None, table.id)]
    try:
        tables = [now.distribution_of(table) for table in asked]
    except UserError as error:
        return MapAnswer(question, None, error.line)
    if not tables:
        return MapAnswer(question, None, "There is no table.")
    if question.lost is None:
        found = fill_map(tables, question.places, question.measure)
        order = _order(plan, found, question.order)
        picture = MapPicture(found.arranged(order), _columns(plan, found, tables, order), {})
        return MapAnswer(question, picture, *_said(picture))
    dead = _dead(plan, question.lost)
    after = loss_of_primaries(tables, dead)
    found = fill_map(tables, "nodes", "primaries", dead)
    before = fill_map(tables, "nodes", "primaries")
    order = _order(plan, before, question.order)
    at = {before.columns[i]: place for place, i in enumerate(order)}
    moved = {(at[lost], at[heir]): rows for (lost, heir), rows in after.moved.items()}
    sums = tuple(float(before.column_sums[i]) for i in order)
    picture = MapPicture(found.arranged(order), _columns(plan, found, tables, order), moved, sums)
    return MapAnswer(question, picture, *_lost(plan, question.lost, after, tables))


def parts_to_lose(plan: Plan) -> list[Part]:
    """What may be lost with data nodes on it: racks, hosts, nodes."""
    from ndbplan.configuration.failing_parts import parts

    nodes = {str(node.node_id) for node in plan.data_nodes}
    hosts = {plan.host(node.host_id).hostname for node in plan.data_nodes}
    wanted = {"rack": lambda name: True, "host": hosts.__contains__, "node": nodes.__contains__}
    every = parts(plan)
    return [
        part for kind, takes in wanted.items() for part in every if part.kind == kind and takes(part.name)
    ]


def _dead(plan: Plan, lost: Part) -> frozenset[int]:
    from ndbplan.configuration.failures import Failures

    return Failures(plan).damage([lost]).dead


def _order(plan: Plan, found: FillMap, order: Order) -> list[int]:
    places = range(len(found.columns))
    if order == "fullest":
        sums = found.column_sums.tolist()
        return sorted(places, key=lambda i: (-sums[i], found.columns[i]))
    if order == "number" or found.places == "groups":
        return list(places)
    racks = {location.id: i for i, location in enumerate(plan.locations)}
    host_of = {node.node_id: plan.host(node.host_id) for node in plan.data_nodes}

    def rack(i: int) -> tuple[int, int]:
        top = chain(plan.locations, host_of[found.columns[i]].location_id)[-1:]
        return (racks[top[0].id] if top else len(racks), found.columns[i])

    return sorted(places, key=rack)


def _columns(
    plan: Plan, found: FillMap, tables: Sequence[TableDistribution], order: Sequence[int]
) -> tuple[Column, ...]:
    if found.places == "groups":
        columns = _groups(plan, found, tables)
    else:
        nodes = {node.node_id: node for node in plan.data_nodes}
        columns = []
        for number in found.columns:
            host = plan.host(nodes[number].host_id)
            racks = chain(plan.locations, host.location_id)
            where = " · ".join([host.hostname, *(place.name for place in racks)])
            bracket = racks[-1].name if racks else ""
            columns.append(Column(f"Node {number}", str(number), where, (nodes[number].id,), bracket))
    # Racks are bracketed where their nodes stand together: in any other order the names only flicker.
    shown = [columns[i] for i in order]
    runs = sum(a.bracket != b.bracket for a, b in itertools.pairwise(shown)) + 1
    if runs > len({column.bracket for column in shown}):
        shown = [Column(c.name, c.short, c.where, c.ids) for c in shown]
    return tuple(shown)


def _groups(plan: Plan, found: FillMap, tables: Sequence[TableDistribution]) -> list[Column]:
    ids = {node.node_id: node.id for node in plan.data_nodes}
    placed = tables[0].placement
    columns = []
    for place, number in enumerate(found.columns):
        members = sorted({int(node) for node in placed.nodes[placed.node_group == place].ravel()})
        where = f"nodes {', '.join(map(str, members))}" if members else "no fragment"
        columns.append(Column(f"Group {number}", str(number), where, tuple(ids[node] for node in members)))
    return columns


def _said(picture: MapPicture) -> tuple[str, str]:
    """How many places are within the band, and how far the others are; and in short, where that is long."""
    found = picture.found
    if not found.even:
        return "There are no rows yet.", ""
    fill = found.fill[found.used]
    low, high = found.band
    over, under = int((fill > high).sum()), int((fill < low).sum())
    beyond, places = int(found.is_outside.sum()), int(found.used.sum())
    if not over and not under:
        return f"All {how_many(places, 'place')} lie in the band that chance alone makes.", ""
    told = f"Of {how_many(places, 'place')} {over} hold more and {under} less than chance alone makes"
    short = f"{over} of {how_many(places, 'place')} above chance, {under} below"
    if beyond:
        more = f"{told}; {beyond} of them lie beyond what the hash map explains too."
        return more, f"{short}; {beyond} beyond the hash map too"
    is_placed = found.measure == "primaries"
    cause = "placement" if is_placed else "the hash map and the placement of fragments"
    shorter = "placement" if is_placed else "the hash map"
    return f"{told}: {cause} explain all of it.", f"{short}: {shorter} explains it"


def _lost(
    plan: Plan, lost: Part, after: PrimariesAfter, tables: Sequence[TableDistribution]
) -> tuple[str, str, bool]:
    """What becomes of the cluster and of primaries, in short too, and whether it stops."""
    from ndbplan.configuration.failures import Failures
    from ndbplan.describe.losses import loss_of

    verdict = loss_of(Failures(plan).judge([lost]))
    parts = [f"Without {lost.text} the cluster {verdict.text}."]
    if after.fragments_without_replica:
        many = how_many(after.fragments_without_replica, "fragment")
        parts.append(f"{many} with {format_count(after.rows_without_replica)} rows have no replica left.")
    shorter = f"The cluster {verdict.text}"
    moved = sum(after.moved.values())
    if moved:
        shorter += f"; node {after.loaded_node} is primary for {format_count(after.factor)} × the mean"
        heirs = len({heir for _, heir in after.moved})
        parts.append(
            f"{format_count(moved)} rows get another primary, on {how_many(heirs, 'node')}; most has node "
            f"{after.loaded_node}: {format_count(after.factor)} × the mean before."
        )
    if tables[0].placement.nodes.shape[1] > 2:
        parts.append("Assumed: the next living replica in a fragment's order takes over.")
    return " ".join(parts), shorter, verdict.verdict == "stops"
