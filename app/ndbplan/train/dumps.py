"""DUMP codes that teach: what data nodes write into the cluster log, or into their own.

1000: memory; 2303: the local checkpoint; 2398 and 2304: the redo log, in the node's log; 2399: the same in
the cluster log; 2305: as 2304, and then the node ends (2303). Other codes are sent, and nothing is answered.
Source: dump answers of a running 8.4.8 cluster; Dblqh, Cmvmi of 7.2.1, 7.4.10 and 8.4.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from ndbplan.base.units import MIB
from ndbplan.simulate.events import orders as engine
from ndbplan.simulate.events.handlers import Order, at_once, handles, planned
from ndbplan.simulate.ndbinfo import NdbinfoError, view
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import Part
from ndbplan.train.memory import data_pages
from ndbplan.train.state import ANSWERS, state_of

MEMORY, LCP, REDO, REDO_AND_STOP, REDO_SHORT, REDO_EVENT = 1000, 2303, 2304, 2305, 2398, 2399


SYSTEM_ERROR = 2303
"""What a node ends with that is told to."""


@dataclass(frozen=True)
class Dump(Order):
    """A data node is asked to write what it knows."""

    node_id: int
    code: int


class LogPart(NamedTuple):
    """One part of the redo log of a node, in MiB."""

    part: int
    head_file: int
    head_mb: int
    tail_file: int
    tail_mb: int
    total_mb: int
    free_mb: int


planned(Dump)(at_once)


@handles(Dump)
def dump(sim: Simulation, order: Dump) -> None:
    """What a node writes; one that does not run writes nothing."""
    state, at_s, node_id = state_of(sim), sim.at_s, order.node_id
    if state.nodes[node_id].status not in ANSWERS or state.nodes[node_id].hangs:
        return
    if order.code == MEMORY:
        _memory(sim, node_id)
    elif order.code == LCP:
        _checkpoint(sim, node_id)
    elif order.code == REDO_EVENT:
        for part in log_parts(sim, node_id):
            percent = part.free_mb * 100 // max(1, part.total_mb)
            state.say(
                at_s, "redo_part", node_id, part=part.part, head_file=part.head_file, head_mb=part.head_mb,
                tail_file=part.tail_file, tail_mb=part.tail_mb, total=part.total_mb, free=part.free_mb,
                free_percent=percent,
            )  # fmt: skip
    elif order.code in (REDO, REDO_AND_STOP, REDO_SHORT):
        for part in log_parts(sim, node_id):
            state.tell(
                at_s, node_id,
                f"REDO part: {part.part} HEAD: file: {part.head_file} mbyte: {part.head_mb} TAIL: file: "
                f"{part.tail_file} mbyte: {part.tail_mb} total: {part.total_mb} free: {part.free_mb} (mb)",
            )  # fmt: skip
        node = state.data_node(node_id)
        if order.code == REDO_AND_STOP and node is not None:
            state.struck[node.id] = SYSTEM_ERROR
            engine.kill(sim, engine.Kill(node.id, at_s=at_s))


def log_parts(sim: Simulation, node_id: int) -> list[LogPart]:
    """The parts of the redo log of a data node; none of one without rows."""
    node = state_of(sim).data_node(node_id)
    n = -1 if node is None else sim.node(node.id)
    if n < 0:
        return []
    law, parts = sim.laws.nodes[n], sim.state.parts
    file_mb = max(1, round(float(law.file_bytes) / MIB))
    total_mb = max(1, round(float(law.log_bytes) / MIB))
    found = []
    for part in range(sim.scenario.node_classes[n].log_parts):
        head = int(float(parts[Part.MADE, n, part]) // MIB)
        tail = int(float(parts[Part.TAIL, n, part]) // MIB)
        head_at, tail_at = head % total_mb, tail % total_mb
        used = min(total_mb, head - tail)
        found.append(
            LogPart(
                part,
                head_at // file_mb,
                head_at % file_mb,
                tail_at // file_mb,
                tail_at % file_mb,
                total_mb,
                total_mb - used,
            )
        )
    return found


def _memory(sim: Simulation, node_id: int) -> None:
    state, at_s = state_of(sim), sim.at_s
    data, index = data_pages(sim, node_id)
    for key, pages in (("memory_is", data), ("index_is", index)):
        state.say(
            at_s, key, node_id, percent=pages.percent, used=pages.used, total=pages.total, size=pages.kib
        )
    try:
        rows = view("resources", SimulationResult.of(sim.partial_run()), state.plan, at_s)
    except NdbinfoError:
        # The version has no such table, nor such lines.
        return
    mine = [row for row in rows if row["node_id"] == node_id]
    for number, row in enumerate(mine[1:], start=1):
        state.say(
            at_s, "resource", node_id, id=number, reserved=row["reserved"], most=row["max"], used=row["used"],
            spare=row.get("spare", 0),
        )  # fmt: skip


def _checkpoint(sim: Simulation, node_id: int) -> None:
    state, node = state_of(sim), state_of(sim).data_node(node_id)
    n = -1 if node is None else sim.node(node.id)
    left = float(sim.state.node_state[n].lcp_left_bytes) if n >= 0 else 0.0
    fragments = round(float(sim.state.node_state[n].lcp_fragments_left)) if n >= 0 else 0
    words = "running" if state.lcp_writes else "not running"
    state.say(
        sim.at_s, "lcp_state", node_id, lcp=state.lcp_id, state=words, left=fragments, bytes=round(left)
    )
