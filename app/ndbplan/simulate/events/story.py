"""What happens in a run, worked out before it begins: a story of plain values; and how it goes on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ndbplan.plan.events import Event, NodesAdded
from ndbplan.plan.plan import Plan
from ndbplan.plan.workloads import Workload
from ndbplan.simulate.events import clients, configuration, disks, full_disks, networks, nodes, orders, parts
from ndbplan.simulate.events.growth import CompilePlan, added_nodes, before_growth
from ndbplan.simulate.events.handlers import Asked, Order, dues_of, handle
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.simulation import Due, Simulation, Story, in_order
from ndbplan.simulate.world.state import look_anew

KINDS = (clients, configuration, disks, full_disks, networks, nodes, orders, parts)
"""Whose handlers there are."""


def story_of(plan: Plan, workload: Workload, events: Iterable[Event], compile_plan: CompilePlan) -> Story:
    """The scenario at the start and all that happens. Raises SimulationError for impossible events.

    The order in which the events are given does not matter, also not for those of one moment.
    """
    in_turn = sorted(events, key=lambda event: (event.at_s, event.model_dump_json()))
    added = [event for event in in_turn if isinstance(event, NodesAdded)]
    dues = [
        due
        for number, event in enumerate(in_turn)
        if not isinstance(event, NodesAdded)
        for due in dues_of(event, Asked(plan, workload, number))
    ]
    scenario = compile_plan(plan, workload)
    if not added:
        return Story(scenario, scenario, in_order(dues), events=tuple(in_turn))
    if len(added) > 1:
        raise SimulationError(
            f"node groups are added {len(added)} times; a run can hold one such event",
            where="events",
            fix="add all groups at once, or simulate one step after the other",
        )
    after, more = added_nodes(plan, workload, added[0])
    # A session without a load has a workload that no plan names.
    is_known = any(one.id == workload.id for one in after.workloads)
    grown = compile_plan(after, after.workload(workload.id) if is_known else workload)
    new = {c.nodes[0].id for c in grown.node_classes} - {c.nodes[0].id for c in scenario.node_classes}
    return Story(
        before_growth(scenario, grown), grown, in_order([*dues, more]), frozenset(new), tuple(in_turn)
    )


def happen(sim: Simulation, due: Due) -> None:
    """Let something happen now; what follows from it is due later."""
    if due.of_cluster and sim.outage.stop is not None:
        return
    sim.now_s, sim.at_s = round(sim.step * sim.scenario.step_s, 9), due.at_s
    handle(sim, due.event)
    if sim.beside is not None:
        sim.beside.saw(sim, due)
    sim.look_at_step = sim.reads_at_step = sim.step
    look_anew(sim.state.cluster)


def act(sim: Simulation, event: Event | Order) -> None:
    """An event, or an order, that somebody asks for now. Raises SimulationError for one that cannot be."""
    if isinstance(event, NodesAdded):
        raise SimulationError(
            "node groups cannot be added to a run that is under way",
            where="events",
            fix="put the event into the workload before the run begins",
        )
    if isinstance(event, configuration.Change) and configuration.is_rolling(sim):
        raise SimulationError("a rolling restart is under way", where="events", fix="wait until it is over")
    if isinstance(event, configuration.Change):
        configuration.may_begin(sim, event)
    at_s = round(sim.step * sim.scenario.step_s, 9)
    asked = Asked(sim.outage.plan, sim.scenario.workload, sim.number)
    if isinstance(event, Order):
        sim.later(*dues_of(replace(event, at_s=at_s), asked))
    else:
        now = event.model_copy(update={"at_s": at_s})
        sim.later(*dues_of(now, asked))
        sim.asked.append(now)
    sim.number += 1
