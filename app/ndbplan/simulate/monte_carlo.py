"""How sure a simulated result is: many runs with what is not known for certain drawn anew, as bands.

bands = monte_carlo(plan, "blobs-5k", runs=200)
bands.accepted.p10, bands.accepted.p90, bands.errors[1221].probability
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ndbplan.estimate.quantity import Quantity, Term
from ndbplan.plan.plan import Plan
from ndbplan.simulate import columns as col

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ndbplan.simulate.scenario import Scenario

    Floats = NDArray[np.float64]

MOST_RUNS = 10_000
_SOURCE = "simulated runs with constants drawn from their ranges"

DISK_SPREAD = (0.93, 1.0, 1.05)
"""Speed of a disk against what the plan states: lowest, likeliest, highest [assumed]."""
LCP_SHARE_SPREAD = (0.85, 1.0, 1.04)
"""Share of a busy disk that a checkpoint takes [7.4.10: 0.60 to 0.75 around 0.73]."""
STAGE_SPREAD = (0.4, 1.0, 1.6)
"""Pauses between checkpoints [7.4.10: 1 to 4 s without backlog]."""
LAG_EXIT_SPREAD = (0.9, 1.0, 1.12)
UNEVEN_SPREAD = (0.01, 0.02, 0.06)


@dataclass(frozen=True)
class Band:
    """A series over time: what a tenth, half and nine tenths of the runs stay below."""

    name: str
    unit: str
    p10: Floats
    p50: Floats
    p90: Floats


@dataclass(frozen=True)
class ErrorOdds:
    """How likely an error is, and when it comes if it does."""

    code: int
    probability: float
    """Share of the runs that had it."""
    first_at_s: Quantity


@dataclass(frozen=True)
class Bands:
    """What many runs found."""

    runs: int
    seed: int
    times_s: Floats
    accepted: Band
    refused: Band
    redo_buffer_fill: Band
    """Fullest part of each moment, as a share."""
    redo_log_fill: Band
    disk_utilisation: Band
    """Busiest disk of each moment."""
    accepted_per_s: Quantity
    redo_buffer_fill_max: Quantity
    redo_log_fill_max: Quantity
    errors: tuple[ErrorOdds, ...]

    @property
    def series(self) -> tuple[Band, ...]:
        """Every band."""
        return (
            self.accepted,
            self.refused,
            self.redo_buffer_fill,
            self.redo_log_fill,
            self.disk_utilisation,
        )

    def to_json(self, why: bool = False) -> dict[str, Any]:
        """Headline numbers as p50 with p10 and p90 as their range, and the odds of each error."""
        return {
            "runs": self.runs,
            "seed": self.seed,
            "accepted_per_s": self.accepted_per_s.to_json(why=why),
            "redo_buffer_fill_max": self.redo_buffer_fill_max.to_json(why=why),
            "redo_log_fill_max": self.redo_log_fill_max.to_json(why=why),
            "errors": [
                {
                    "code": odds.code,
                    "probability": odds.probability,
                    "first_at_s": odds.first_at_s.to_json(why=why),
                }
                for odds in self.errors
            ],
        }


def monte_carlo(
    plan: Plan,
    workload_id: str | None = None,
    *,
    runs: int = 200,
    duration_s: float | None = None,
    step_s: float = 0.1,
    seed: int = 1,
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
) -> Bands:
    """Bands over `runs` runs of a workload. Same arguments, same bands, whatever the number of workers.

    Raises SimulationError for a plan or number of runs that cannot be simulated, Cancelled when told to stop.
    """
    from ndbplan.simulate.kernel import prepare
    from ndbplan.simulate.node_rows import SimulationError
    from ndbplan.simulate.run import Cancelled, workload_of
    from ndbplan.simulate.scenario import compile_scenario

    if not 2 <= runs <= MOST_RUNS:
        raise SimulationError(f"{runs} runs are outside 2 to {MOST_RUNS}", where="runs")
    workload = workload_of(plan, workload_id)
    seconds = workload.duration_s if duration_s is None else duration_s
    scenario = compile_scenario(plan, workload, duration_s=seconds, step_s=step_s, seed=seed)
    kernel = prepare()
    log_range = _log_range(plan, scenario)
    done = 0
    found: list[_Run | None] = [None] * runs

    def one(number: int) -> None:
        nonlocal done
        if cancelled is not None and cancelled():
            raise Cancelled
        found[number] = _run(_drawn(scenario, log_range, seed, number), kernel, cancelled)
        done += 1
        if progress is not None:
            progress(done / runs)

    with ThreadPoolExecutor(workers or min(8, os.cpu_count() or 1)) as pool:
        for _ in pool.map(one, range(runs)):
            pass
    return _bands(scenario, [run for run in found if run is not None], seed)


@dataclass(frozen=True)
class _Run:
    series: Floats
    """Accepted, refused, buffer fill, log fill, utilisation: one row each."""
    accepted_per_s: float
    first: Floats
    """Moment of each error's first refusal; infinite when it did not come."""
    bucket_s: float


def _log_range(plan: Plan, scenario: Scenario) -> tuple[float, float]:
    """Log of a transaction at the ends of its estimate, against its value."""
    from ndbplan.estimate.redo import transaction_redo

    value = low = high = 0.0
    for transaction in scenario.workload.transactions:
        one = transaction_redo(plan, transaction)
        value += transaction.weight * one.value
        low += transaction.weight * one.low
        high += transaction.weight * one.high
    return (low / value, high / value) if value > 0 else (1.0, 1.0)


def _drawn(scenario: Scenario, log_range: tuple[float, float], seed: int, number: int) -> Scenario:
    """The scenario with one draw of all that is not known for certain; the first run is the likeliest."""
    import numpy as np

    random = np.random.default_rng((seed, number))

    def draw(low: float, mode: float, high: float) -> float:
        return mode if number == 0 or low >= high else float(random.triangular(low, mode, high))

    run, nodes, disks = scenario.run.copy(), scenario.nodes.copy(), scenario.disks.copy()
    disks[:, col.D_BYTES_PER_S] *= draw(*DISK_SPREAD)
    disks[:, col.D_READ_IOPS] *= draw(*DISK_SPREAD)
    disks[:, col.D_LCP_SHARE] *= draw(*LCP_SHARE_SPREAD)
    run[col.R_STAGE_S] *= draw(*STAGE_SPREAD)
    run[col.R_LAG_EXIT] *= draw(*LAG_EXIT_SPREAD)
    run[col.R_UNEVEN] = draw(*UNEVEN_SPREAD)
    load = scenario.load * draw(log_range[0], 1.0, log_range[1])
    return replace(scenario, run=run, nodes=nodes, disks=disks, load=load, seed=seed + 7919 * number)


def _run(scenario: Scenario, kernel: Callable[..., None], cancelled: Callable[[], bool] | None) -> _Run:
    import numpy as np

    from ndbplan.simulate.run import Arrays, Cancelled, StartState, chunk_steps

    arrays = Arrays.fresh(scenario, StartState())
    chunk = chunk_steps(scenario)
    for begin in range(0, scenario.steps, chunk):
        if cancelled is not None and cancelled():
            raise Cancelled
        arrays.advance(kernel, scenario, begin, min(scenario.steps, begin + chunk))
    lengths = arrays.bucket_lengths_s(scenario)
    buffers = np.array([c.redo_buffer_bytes for c in scenario.node_classes])[None, :, None]
    logs = scenario.nodes[None, :, col.N_LOG_BYTES, None]
    used = (scenario.load > 0)[None]
    busy = arrays.out_busy[:, :, 0] * scenario.step_s / lengths[:, None]
    series = np.stack(
        [
            arrays.out[:, col.O_ACCEPTED] / lengths,
            arrays.out[:, col.O_REFUSED] / lengths,
            (arrays.out_high / np.maximum(buffers, 1)).max(axis=(1, 2)),
            (arrays.out_log * used / logs).max(axis=(1, 2)),
            np.minimum(1.0, busy.max(axis=1)),
        ]
    )
    first = np.where(arrays.errors >= 0.5, arrays.first[:, 0], np.inf)
    accepted = float(arrays.out[:, col.O_ACCEPTED].sum()) / scenario.duration_s
    return _Run(series, accepted, first, arrays.steps_per_bucket * scenario.step_s)


def _bands(scenario: Scenario, runs: list[_Run], seed: int) -> Bands:
    import numpy as np

    low, middle, high = np.percentile(np.stack([run.series for run in runs]), (10, 50, 90), axis=0)
    names = (
        ("accepted", "tx/s"),
        ("refused", "tx/s"),
        ("fullest redo buffer", "fraction"),
        ("fullest redo log", "fraction"),
        ("busiest disk", "fraction"),
    )
    bands = [Band(name, unit, low[i], middle[i], high[i]) for i, (name, unit) in enumerate(names)]
    count = len(runs)
    errors = []
    for i, code in enumerate(col.ERROR_CODES):
        moments = [float(run.first[i]) for run in runs if np.isfinite(run.first[i])]
        if moments:
            errors.append(ErrorOdds(code, len(moments) / count, _spread(moments, "s", count)))
    return Bands(
        runs=count,
        seed=seed,
        times_s=np.arange(len(low[0]), dtype=np.float64) * runs[0].bucket_s,
        accepted=bands[0],
        refused=bands[1],
        redo_buffer_fill=bands[2],
        redo_log_fill=bands[3],
        disk_utilisation=bands[4],
        accepted_per_s=_spread([run.accepted_per_s for run in runs], "tx/s", count),
        redo_buffer_fill_max=_spread([float(run.series[2].max()) for run in runs], "fraction", count),
        redo_log_fill_max=_spread([float(run.series[3].max()) for run in runs], "fraction", count),
        errors=tuple(sorted(errors, key=lambda odds: odds.first_at_s.value)),
    )


def _spread(values: list[float], unit: str, runs: int) -> Quantity:
    """Median with the tenth and the ninetieth percentile as its range."""
    import numpy as np

    low, middle, high = (float(v) for v in np.percentile(values, (10, 50, 90)))
    return Quantity(middle, low, high, unit, (Term("runs", runs, "count", _SOURCE),))
