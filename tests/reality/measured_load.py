"""Loads on limited disks, measured and simulated: rates, first errors, codes, checkpoints, by run and phase.

Each run is simulated as a whole from a cluster that was just started, as a user's plan states it, once as is
likeliest and often with what is not known for certain drawn anew.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import NamedTuple

import numpy as np

from ndbplan.base.quantity import Quantity, product_of_independent
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.estimation import Estimation
from ndbplan.estimate.loaded import checkpoint
from ndbplan.simulate.drawn_runs import drawn_runs
from ndbplan.simulate.rates import taken_of
from ndbplan.simulate.run import Course
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import ERROR_CODES, OfCluster, Purpose
from reality.judged import judged
from reality.load_runs import LoadPhase, LoadRun, plan_of, runs
from reality.measured import Measured

DRAWS = 100


class Seen(NamedTuple):
    """What one simulated run did in one phase."""

    accepted_rows_s: float
    first: tuple[int, float] | None
    codes: frozenset[int]
    redo_mb_s: float
    lcp_mb_s: float


class Outcome(NamedTuple):
    """A phase, measured and simulated; the first of the simulated ones is the likeliest."""

    run: LoadRun
    phase: LoadPhase
    drawn: tuple[Seen, ...]

    @property
    def name(self) -> str:
        """Such as `A1-12000`."""
        return f"{self.run.name}-{self.phase.offered_rows_s:.0f}"

    @property
    def likeliest(self) -> Seen:
        """What the program says when asked once."""
        return self.drawn[0]

    @property
    def taken(self) -> Quantity:
        """Rows a second, in the range that the program says of many runs."""
        law = constants_of(plan_of(self.run))["overload_law"]
        rows = [seen.accepted_rows_s for seen in self.drawn]
        return taken_of(rows, self.phase.offered_rows_s, law)

    def spread(self, values: list[float]) -> tuple[float, float, float]:
        """p10, p50 and p90."""
        low, middle, high = (float(v) for v in np.percentile(values, (10, 50, 90)))
        return low, middle, high


def _seen(sim: Simulation, run: LoadRun, phase: LoadPhase) -> Seen:
    seconds = slice(phase.begin_s, phase.begin_s + phase.seconds)
    history = sim.history
    errors = np.diff(history.errors, axis=0, prepend=0.0)[seconds]
    counts = errors.sum(axis=0)
    codes = frozenset(code for code, count in zip(ERROR_CODES, counts, strict=True) if count >= 0.5)
    first = None
    came = np.flatnonzero(errors.sum(axis=1) >= 0.5)
    if len(came):
        at = int(came[0])
        first = (ERROR_CODES[int(errors[at].argmax())], float(at))
    written = history.disk[seconds, 0]
    return Seen(
        float(history.totals[seconds, OfCluster.ACCEPTED].mean()) * run.batch,
        first,
        codes,
        float(written[:, Purpose.REDO].mean()) / 1e6,
        float(written[:, Purpose.LCP].mean()) / 1e6,
    )


@cache
def outcomes(draws: int = DRAWS) -> tuple[Outcome, ...]:
    """Every phase of every run."""
    return tuple(one for run in runs() for one in outcomes_of(run, draws))


@cache
def outcomes_of(run: LoadRun, draws: int = DRAWS) -> tuple[Outcome, ...]:
    """The phases of a run."""
    plan = plan_of(run)
    story = Course(Estimation(plan, plan.workloads[0]), (), 0.1, 1).story(run.seconds)

    def look(sim: Simulation) -> list[Seen]:
        return [_seen(sim, run, phase) for phase in run.phases]

    found = drawn_runs(story, draws, 1, look, run.seconds)
    return tuple(
        Outcome(run, phase, tuple(seen[at] for seen in found)) for at, phase in enumerate(run.phases)
    )


def accepted_by_second(run: LoadRun) -> list[float]:
    """Rows that the likeliest run takes in each second."""
    plan = plan_of(run)
    story = Course(Estimation(plan, plan.workloads[0]), (), 0.1, 1).story(run.seconds)
    taken = drawn_runs(story, 1, 1, lambda sim: sim.history.totals[:, OfCluster.ACCEPTED].copy(), run.seconds)
    return [float(rate) * run.batch for rate in taken[0]]


def first_checkpoint_mb(run: LoadRun) -> float:
    """What the first checkpoint of the likeliest run writes."""
    plan = plan_of(run)
    story = Course(Estimation(plan, plan.workloads[0]), (), 0.1, 1).story(run.seconds)
    return drawn_runs(story, 1, 1, _checkpoints_mb, run.seconds)[0][0]


_CUT_S = 0.5
"""What a moment in whole seconds leaves away on average."""
_WRITES_MB_S = 0.7
"""What a second with a checkpoint writes at least."""


def _checkpoints_mb(sim: Simulation) -> list[float]:
    """What each checkpoint of a node wrote, in the order in which they came; the last may be cut off."""
    written = sim.history.disk[:, 0, Purpose.LCP] / 1e6
    on = np.concatenate(([0], written > _WRITES_MB_S, [0]))
    # A second between two fragments in which little is written parts no checkpoint.
    on[1:-1] |= on[:-2] & on[2:]
    edges = np.flatnonzero(np.diff(on))
    return [float(written[begin:end].sum()) for begin, end in edges.reshape(-1, 2)]


def checkpoint_rows(draws: int) -> list[Measured]:
    """Bytes of the checkpoints that were seen whole, each against the simulated one that is as manieth.

    They begin with the second of a run: the first is over before anybody asks.
    """
    found = []
    for run in runs():
        if not run.checkpoints:
            continue
        plan = plan_of(run)
        story = Course(Estimation(plan, plan.workloads[0]), (), 0.1, 1).story(run.seconds)
        drawn = drawn_runs(story, draws, 1, _checkpoints_mb, run.seconds)
        for at, one in enumerate(run.checkpoints, 1):
            sizes = [sizes[at] for sizes in drawn if len(sizes) > at + 1]
            if len(sizes) > draws // 2:
                low, middle, high = (float(v) for v in np.percentile(sizes, (10, 50, 90)))
                name = f"{run.name}-{at}"
                found.append(
                    Measured(
                        "checkpoint bytes", run.era, name, "MB", one["written_MB"], low, middle, high,
                        fitted=True,
                    )
                )  # fmt: skip
    return found


def estimated_checkpoint_rows() -> list[Measured]:
    """Bytes of the same checkpoints as the estimate says them of a table that has so many rows.

    Moments were told in whole seconds that are over: on average half a second of rows came before the start.
    """
    found = []
    for run in runs():
        for at, one in enumerate(run.checkpoints, 1):
            phase = [phase for phase in run.phases if phase.begin_s <= one["start"]][-1]
            plan = plan_of(replace(run, phases=(replace(phase, begin_s=0),)))
            rows = one["rows_at_start"] + _CUT_S * phase.accepted_rows_s
            table = plan.tables[0].model_copy(update={"rows": round(rows)})
            plan = plan.replace(tables=(table,))
            size = checkpoint(plan, plan.workloads[0]).nodes[0].written_bytes.scaled(1e-6)
            name = f"{run.name}-{at}"
            found.append(judged("checkpoint estimate", run.era, name, one["written_MB"], size))
    return found


def processor_rows() -> list[Measured]:
    """Cores that data nodes kept busy where nothing was refused, against the estimate for that rate."""
    found = []
    for run in runs():
        for phase in run.phases:
            if phase.first is None and phase.cores:
                plan = plan_of(replace(run, phases=(replace(phase, begin_s=0),)))
                said = Estimation(plan, plan.workloads[0]).cpu.nodes[0].cores
                name = f"{run.name}-{phase.offered_rows_s:.0f}"
                measured = sum(phase.cores) / len(phase.cores)
                found.append(judged("processor use", run.era, name, measured, said))
    return found


def _written(one: Outcome, purpose: str, measured: float, values: list[float]) -> Measured:
    """Speed of a purpose in a phase: less certain than runs are apart, as what the program says of a disk."""
    low, middle, high = one.spread(values)
    off = constants_of(plan_of(one.run))["simulated_rate"]
    rate = product_of_independent(Quantity(middle, low, high, "MB/s"), off).in_unit("MB/s")
    return judged(f"{purpose} written", one.run.era, one.name, measured, rate)


def rows() -> list[Measured]:
    """Rates, moments of first errors, speeds of log and checkpoints, bytes of these, and processor use."""
    found = checkpoint_rows(DRAWS // 2) + estimated_checkpoint_rows() + processor_rows()
    for one in outcomes():
        phase = one.phase

        kind = "rows accepted" if phase.first is None else "rows, overloaded"
        rate = phase.accepted_rows_s
        found.append(judged(kind, one.run.era, one.name, rate, one.taken.in_unit("rows/s")))
        found.append(_written(one, "redo", phase.redo_mb_s, [seen.redo_mb_s for seen in one.drawn]))
        found.append(_written(one, "checkpoints", phase.lcp_mb_s, [seen.lcp_mb_s for seen in one.drawn]))
        moments = [seen.first[1] for seen in one.drawn if seen.first is not None]
        likeliest = one.likeliest.first
        if phase.first is not None and likeliest is not None:
            first = one.spread([likeliest[1], *moments])
            at_s = phase.first[1]
            found.append(Measured("first error", one.run.era, one.name, "s", at_s, *first, fitted=True))
    return found
