"""Many runs of one story, what is not known for certain drawn anew in each."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from zlib import crc32

from ndbplan.base.errors import Cancelled
from ndbplan.base.kept import keeping
from ndbplan.base.quantity import Quantity
from ndbplan.base.row_types import column
from ndbplan.estimate.constants import constants_of
from ndbplan.estimate.stored import reach

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ndbplan.simulate.model.load_over_time import Service
    from ndbplan.simulate.model.scenario import Scenario
    from ndbplan.simulate.model.start import StartState
    from ndbplan.simulate.simulation import Simulation, Story

    Floats = NDArray[np.float64]


T = TypeVar("T")


def drawn_runs(
    story: Story,
    runs: int,
    seed: int,
    look: Callable[[Simulation], T],
    most_buckets: int,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
    start: StartState | None = None,
    first: int = 0,
) -> list[T]:
    """What `look` sees in each of so many runs with what is not known for certain drawn anew.

    `first`: the number of the first of them; what is drawn follows from seed and number alone.
    """
    from ndbplan.simulate.kernel.ready import prepare

    prepare()
    log_range = log_range_of(story.scenario)

    def one(number: int) -> T:
        if cancelled is not None and cancelled():
            raise Cancelled
        with keeping(kept):
            return look(drawn_run(story, log_range, seed, number, most_buckets, cancelled, start))

    with keeping() as kept, ThreadPoolExecutor(workers or min(8, os.cpu_count() or 1)) as pool:
        return list(pool.map(one, range(first, first + runs)))


def log_range_of(scenario: Scenario) -> tuple[float, float]:
    """Log of a transaction at the ends of its estimate, against its value."""
    from ndbplan.estimate.load.log_records import transaction_redo

    plan = scenario.plan
    value = low = high = 0.0
    for transaction in scenario.workload.transactions:
        one = transaction_redo(plan.tables, transaction, plan.version)
        value += transaction.weight * one.value
        low += transaction.weight * one.low
        high += transaction.weight * one.high
    return (low / value, high / value) if value > 0 else (1.0, 1.0)


def drawn(
    scenario: Scenario, log_range: tuple[float, float], seed: int, number: int
) -> tuple[Scenario, float, StartState]:
    """The scenario with one draw of all that is not certain, the factor of its log, and where it starts.

    The first run is the likeliest. Two scenarios draw the same of what is not certain in both, by seed and
    number: what differs between their runs is the difference of the scenarios.
    """
    import numpy as np

    from ndbplan.simulate.model.start import StartState

    random = np.random.default_rng((seed, number))

    def deviations() -> float:
        """From what is likeliest, in standard deviations. What is certain takes its turn all the same: it may
        not be so in the plan beside."""
        away = float(random.normal())
        return away if number else 0.0

    constants, near = constants_of(scenario.plan), reach(scenario.plan, "load")

    def drawn_of(name: str) -> float:
        """A constant against its value, by its range; far from all runs this is wider."""
        one = near.widened(constants[name])
        return one.at(deviations()) / one.value

    def half(name: str) -> float:
        """Half of the range of a constant that differs from one checkpoint to the next; no more than it."""
        one = near.widened(constants[name])
        return min(one.value, (one.high - one.low) / 2.0)

    laws = scenario.laws
    run, disks, nodes = laws.run.copy(), laws.disks.copy(), laws.nodes.copy()
    column(disks, lambda disk: disk.write_bytes_per_s)[:] *= drawn_of("disk_speed_drawn")
    column(disks, lambda disk: disk.read_iops)[:] *= drawn_of("disk_speed_drawn")
    column(disks, lambda disk: disk.lcp_share)[:] *= drawn_of("lcp_device_share_drawn")
    column(nodes, lambda node: node.lcp_factor)[:] *= drawn_of("lcp_bytes_drawn")
    if number > 0:
        run.lcp_stage_off_s = half("lcp_stage_s")
        run.lcp_begin_stage_off_s = half("lcp_begin_stage_s")
        run.lcp_first_s += half("lcp_first_s") * float(random.uniform(-1.0, 1.0))
        flushes = constants["lcp_flushes_after"]
        run.lcp_flushes_after += flushes.at(deviations()) - flushes.value
    run.aborted_log *= drawn_of("redo_aborted_share")
    run.unevenness = drawn_of("redo_unevenness_drawn")
    factor = Quantity(1.0, *log_range, "factor").at(deviations())
    column(nodes, lambda node: node.file_open_after_bytes)[:] *= drawn_of("redo_next_file_open_bytes")
    one = replace(
        scenario.with_laws(run=run, disks=disks, nodes=nodes, load=laws.load * factor),
        seed=seed + 7919 * number,
    )
    return with_drawn_services(one, seed, number), factor, StartState()


def with_drawn_services(scenario: Scenario, seed: int, number: int) -> Scenario:
    """What processors, links and reads let pass, each somewhere in its range: those of one resource at the
    same place of theirs. The first run has the likeliest.
    """
    import numpy as np

    from ndbplan.simulate.model.load_over_time import service_per_s

    if number == 0 or not scenario.services:
        return scenario

    near = reach(scenario.plan, "load")

    def drawn_of(service: Service) -> Service:
        random = np.random.default_rng((seed, number, crc32(service.resource.encode())))
        rate = near.widened(Quantity(service.max_per_s, service.low_per_s, service.high_per_s, "tx/s"))
        return replace(service, max_per_s=rate.at(float(random.normal())))

    services = tuple(sorted(map(drawn_of, scenario.services), key=lambda one: one.max_per_s))
    run = scenario.laws.run.copy()
    run.service_per_s = run.service_beside_reads_per_s = service_per_s(services)
    return replace(scenario.with_laws(run=run), services=services)


def drawn_run(
    story: Story,
    log_range: tuple[float, float],
    seed: int,
    number: int,
    most_buckets: int,
    cancelled: Callable[[], bool] | None,
    given: StartState | None,
) -> Simulation:
    """One of these runs, to its end; `given` is where it begins, None: at a moment of its own."""
    from ndbplan.simulate.simulation import Simulation
    from ndbplan.simulate.steps import Watch, advance

    scenario, factor, start = drawn(story.scenario, log_range, seed, number)
    grown = story.grown.with_laws(load=story.grown.laws.load * factor)
    sim = Simulation.begin(story._replace(scenario=scenario, grown=grown), given or start, most_buckets)
    advance(sim, scenario.steps, Watch(cancelled=cancelled))
    return sim
