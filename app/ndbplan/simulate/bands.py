"""How sure a simulated result is: many runs with what is not known for certain drawn anew, as bands.

bands = monte_carlo(estimation_of(plan, "blobs-5k"), runs=200)
bands.accepted.p10, bands.accepted.p90, bands.errors[1221].probability
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ndbplan.base.precision import interval, precise
from ndbplan.base.quantity import Quantity, product_of_independent
from ndbplan.base.row_types import column
from ndbplan.base.shapes import Shape
from ndbplan.estimate.constants import constants_of
from ndbplan.plan.events import Event
from ndbplan.simulate.drawn_runs import drawn_runs
from ndbplan.simulate.odds import ErrorOdds, error_odds, spread
from ndbplan.simulate.rates import SteadyRate, steady_rates, taken_of
from ndbplan.simulate.series import Records, Series, as_csv, in_bands
from ndbplan.simulate.world.indices import ERROR_CODES, PURPOSES, OfCluster

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ndbplan.estimate.estimation import Estimation
    from ndbplan.plan.plan import Plan
    from ndbplan.plan.workloads import Workload
    from ndbplan.simulate.model.scenario import Scenario
    from ndbplan.simulate.model.start import StartState
    from ndbplan.simulate.simulation import Simulation

    Floats = NDArray[np.float64]

MOST_RUNS = 10_000
MOST_NUMBERS = 20_000_000
"""Of all series of all runs together, which are held until the percentiles are known: 80 MB."""
FEWEST_BUCKETS = 60
"""Points in time of a band at least: judgement."""
Elsewhere = Callable[[Callable[[range], list[Any]], range], Iterable[Any]]
"""Who else works runs out: what of a function comes back that answers for the runs of some numbers."""


@dataclass(frozen=True)
class Band:
    """A series over time: what a tenth, half and nine tenths of the runs stay below."""

    name: str
    unit: str
    p10: Floats
    p50: Floats
    p90: Floats


@dataclass(frozen=True)
class StopOdds(Shape):
    """How likely the cluster stops, and when if it does."""

    JSON = "probability first_at_s"

    probability: float
    """Share of the runs in which it stopped."""
    first_at_s: Quantity


@dataclass(frozen=True)
class Bands(Shape):
    """What many runs found."""

    JSON = (
        "runs seed accepted_per_s latency_mean_s redo_buffer_fill_max redo_log_fill_max errors cluster_stop "
        "rates"
    )

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
    accepted_mean_per_s: Quantity
    """Mean over the runs, with the interval in which the true one lies."""
    latency_mean_s: Quantity
    redo_buffer_fill_max: Quantity
    redo_log_fill_max: Quantity
    errors: tuple[ErrorOdds, ...]
    details: tuple[Band, ...]
    """Of every error, log part, disk and node; empty when there are too many."""
    cluster_stop: StopOdds | None
    """None: it stopped in no run."""
    rates: tuple[SteadyRate, ...]
    """By each steady rate that is offered; none of a load that changes all the time."""

    @property
    def series(self) -> tuple[Band, ...]:
        """Every band."""
        return (
            self.accepted,
            self.refused,
            self.redo_buffer_fill,
            self.redo_log_fill,
            self.disk_utilisation,
            *self.details,
        )

    def to_csv(self) -> str:
        """One line for each moment: p10, p50 and p90 of every series."""
        columns = [("t_s", self.times_s)]
        for band in self.series:
            name = band.name.replace(" ", "_")
            columns += [(f"{name}_{p}", getattr(band, p)) for p in ("p10", "p50", "p90")]
        return as_csv(columns)

    def series_json(self) -> dict[str, Any]:
        """Every series: moments, and p10, p50 and p90 of each."""
        return {
            "times_s": self.times_s.tolist(),
            "bands": [
                {
                    "name": band.name,
                    "unit": band.unit,
                    **{p: _short(getattr(band, p)) for p in ("p10", "p50", "p90")},
                }
                for band in self.series
            ],
        }


def _short(values: Floats) -> list[float]:
    """Six digits: more would be made up."""
    return [float(f"{value:.6g}") for value in values.tolist()]


def monte_carlo(
    now: Estimation,
    *,
    runs: int | None = None,
    precision: float | None = None,
    duration_s: float | None = None,
    step_s: float = 0.1,
    seed: int = 1,
    events: Sequence[Event] = (),
    progress: Callable[[float], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
    elsewhere: Elsewhere | None = None,
    start: StartState | None = None,
    narrowed: Callable[[Quantity, int], object] = lambda mean, runs: None,
) -> Bands:
    """Bands over `runs` runs of the workload (None: the plan's first), or over as many as the mean of what is
    accepted needs to be known with a precision.

    Same arguments, same bands, whoever works them out: `workers` threads, or other processes as `elsewhere`
    has them. `events` happen in every run, besides those of the workload. `start` is where each begins; None:
    each at another moment before the first local checkpoint.
    Raises SimulationError for a plan or number of runs that cannot be simulated, Cancelled when told to stop.
    """
    from ndbplan.simulate.model.node_rows import SimulationError
    from ndbplan.simulate.model.workload import workload_of
    from ndbplan.simulate.run import Course

    if (runs is None) == (precision is None):
        raise SimulationError("either runs or a precision are asked for", where="runs", fix="name one")
    if runs is not None and not 2 <= runs <= MOST_RUNS:
        raise SimulationError(f"{runs} runs are outside 2 to {MOST_RUNS}", where="runs")
    workload = now.workload or workload_of(now.plan, None)
    happening = (*workload.events, *events)
    course = Course(now.under(workload), happening, step_s, seed)
    lasts_s = course.length_s(start, cancelled) if duration_s is None else duration_s
    story = course.story(lasts_s)
    most = _most_buckets(story.scenario, runs or MOST_RUNS)
    done, drawn = 0, list[_Run]()

    def one(sim: Simulation) -> _Run:
        nonlocal done
        done += 1
        if progress is not None and runs is not None:
            progress(done / runs)
        return _found(sim)

    def more(numbers: range) -> list[float]:
        """What the runs of these numbers accept."""
        if elsewhere is None:
            drawn.extend(
                drawn_runs(story, len(numbers), seed, one, most, cancelled, workers, start, numbers.start)
            )
        else:
            asked = _Asked(now.plan, workload, happening, step_s, seed, lasts_s, most, start)
            drawn.extend(elsewhere(partial(_runs_of, asked), numbers))
        return [run.accepted_per_s for run in drawn[numbers.start :]]

    if runs is not None:
        more(range(runs))
    elif precision is not None:
        precise(more, precision, "tx/s", most=MOST_RUNS, narrowed=narrowed)
    return _bands(story.scenario, drawn, seed)


@dataclass(frozen=True)
class _Run:
    series: NDArray[np.float32]
    """Accepted, refused, buffer fill, log fill, utilisation, then the details: one row each."""
    accepted_per_s: float
    offered_per_s: float
    latency_mean_s: Quantity
    first: Floats
    """Moment of each error's first refusal; infinite when it did not come."""
    refused: NDArray[np.bool_]
    """Whether an error came, by moment and error."""
    bucket_s: float
    stopped_s: float
    """When the cluster stopped; infinite: it did not."""


class _Asked(NamedTuple):
    """What runs, for another process."""

    plan: Plan
    workload: Workload
    events: tuple[Event, ...]
    step_s: float
    seed: int
    duration_s: float
    most_buckets: int
    start: StartState | None


def _runs_of(asked: _Asked, numbers: range) -> list[_Run]:
    """The runs of these numbers, worked out here, one after the other."""
    from ndbplan.estimate.estimation import Estimation
    from ndbplan.simulate.run import Course

    course = Course(Estimation(asked.plan, asked.workload), asked.events, asked.step_s, asked.seed)
    story, most = course.story(asked.duration_s), asked.most_buckets
    return drawn_runs(story, len(numbers), asked.seed, _found, most, None, 1, asked.start, numbers.start)


def _most_buckets(scenario: Scenario, runs: int) -> int:
    """Moments to keep, so that all runs together stay small."""
    from ndbplan.simulate.model.start import MOST_BUCKETS

    rows = max(1, len(_detailed(scenario)) + 5)
    return max(FEWEST_BUCKETS, min(MOST_BUCKETS, MOST_NUMBERS // (runs * rows)))


def _found(sim: Simulation) -> _Run:
    """What bands are made of."""
    import numpy as np

    from ndbplan.simulate.latency import latency_s, mean_latency

    series = np.concatenate([_headlines(sim), _details(sim)]).astype(np.float32)
    first = np.where(sim.state.errors >= 0.5, sim.state.first[:, 0], np.inf)
    totals = sim.history.totals.sum(axis=0) / sim.scenario.duration_s
    accepted, offered = float(totals[OfCluster.ACCEPTED]), float(totals[OfCluster.OFFERED])
    mean = mean_latency(sim, latency_s(sim))
    bucket_s = int(sim.laws.run.steps_per_bucket) * sim.scenario.step_s
    refused = np.diff(sim.history.errors, axis=0, prepend=0.0) >= 0.5
    return _Run(series, accepted, offered, mean, first, refused, bucket_s, sim.stopped_s)


def _headlines(sim: Simulation) -> Floats:
    import numpy as np

    from ndbplan.simulate.recorded import buffer_bytes

    history, lengths = sim.history, sim.bucket_lengths_s()
    buffers = buffer_bytes(sim)[None, :, None]
    logs = column(sim.laws.nodes, lambda node: node.log_bytes)[None, :, None]
    used = (sim.living_load() > 0)[None]
    busy = history.busy[:, :, 0] * sim.scenario.step_s / lengths[:, None]
    return np.stack(
        [
            history.totals[:, OfCluster.ACCEPTED] / lengths,
            history.totals[:, OfCluster.REFUSED] / lengths,
            np.minimum(1.0, (history.high / buffers).max(axis=(1, 2))),
            (history.log * used / logs).max(axis=(1, 2)),
            np.minimum(1.0, busy.max(axis=1)),
        ]
    )


class _Detail(NamedTuple):
    """One detailed series: of which error, node or disk, and of which part or purpose."""

    name: str
    series: Series
    i: int = 0
    j: int = 0


def _detailed(scenario: Scenario) -> list[_Detail]:
    """All detailed series; none when even few moments of them would be too much."""
    details = [_Detail(one.name, one) for one in in_bands("cluster")]
    for i, code in enumerate(ERROR_CODES):
        details += [_Detail(one.name.format(code), one, i) for one in in_bands("error")]
    for n, node_class in enumerate(scenario.node_classes):
        stem = f"node{node_class.node_id}"
        for p in range(node_class.log_parts):
            details += [_Detail(f"{stem}_part{p}_{one.name}", one, n, p) for one in in_bands("part")]
        details += [_Detail(f"{stem}_{one.name}", one, n) for one in in_bands("node")]
    for d, disk_class in enumerate(scenario.disk_classes):
        stem = f"{disk_class.hostnames[0]}_{disk_class.disks[0].name}".replace(" ", "_")
        details += [_Detail(f"{stem}_{one.name}", one, d) for one in in_bands("disk")]
        for i, purpose in enumerate(PURPOSES):
            details += [_Detail(f"{stem}_{purpose}_{one.name}", one, d, i) for one in in_bands("purpose")]
    return details if len(details) * FEWEST_BUCKETS * 2 <= MOST_NUMBERS // 200 else []


def _details(sim: Simulation) -> Floats:
    """The detailed series of a run."""
    import numpy as np

    from ndbplan.simulate.latency import latency_s

    details = _detailed(sim.scenario)
    if not details:
        return np.zeros((0, len(sim.history.totals)))
    records = Records(sim.history, sim.bucket_lengths_s(), sim.scenario.step_s, latency_s(sim))
    rows = [one.series.in_bands(records, one.i, one.j) for one in details if one.series.in_bands is not None]
    return np.stack(rows)


def _bands(scenario: Scenario, runs: list[_Run], seed: int) -> Bands:
    import numpy as np

    low, middle, high = _percentiles(runs)
    names = (
        ("accepted", "tx/s"),
        ("refused", "tx/s"),
        ("fullest redo buffer", "fraction"),
        ("fullest redo log", "fraction"),
        ("busiest disk", "fraction"),
    )
    named = (*names, *((one.name, one.series.unit) for one in _detailed(scenario)))
    bands = [Band(name, unit, low[i], middle[i], high[i]) for i, (name, unit) in enumerate(named)]
    details = tuple(band for band in bands[5:] if band.p90.any())
    count, law = len(runs), constants_of(scenario.plan)["overload_law"]
    return Bands(
        runs=count,
        seed=seed,
        times_s=np.arange(len(low[0]), dtype=np.float64) * runs[0].bucket_s,
        accepted=bands[0],
        refused=bands[1],
        redo_buffer_fill=bands[2],
        redo_log_fill=bands[3],
        disk_utilisation=bands[4],
        accepted_per_s=taken_of(
            [run.accepted_per_s for run in runs], max(run.offered_per_s for run in runs), law
        ),
        accepted_mean_per_s=interval([run.accepted_per_s for run in runs], "tx/s"),
        latency_mean_s=_latency([run.latency_mean_s for run in runs]),
        redo_buffer_fill_max=spread([float(run.series[2].max()) for run in runs], "fraction", count),
        redo_log_fill_max=spread([float(run.series[3].max()) for run in runs], "fraction", count),
        errors=error_odds(np.stack([run.first for run in runs])),
        details=details,
        cluster_stop=_stop_odds(runs),
        rates=steady_rates(
            scenario.workload,
            runs[0].bucket_s,
            np.stack([run.series[0] for run in runs]).astype(np.float64),
            np.stack([run.refused for run in runs]),
            law,
        ),
    )


def _latency(means: list[Quantity]) -> Quantity:
    """Mean latency over the runs: as far apart as they are, and as little known as each of them.

    How long a transaction takes on an idle cluster is the same in all runs, whatever it is.
    """
    found, likeliest = spread([mean.value for mean in means], "s", len(means)), means[0]
    if likeliest.value <= 0:
        return found
    known = Quantity(1.0, likeliest.low / likeliest.value, likeliest.high / likeliest.value, "")
    return product_of_independent(found, known).in_unit("s").because(*found.why, *likeliest.why)


def _stop_odds(runs: list[_Run]) -> StopOdds | None:
    moments = [run.stopped_s for run in runs if math.isfinite(run.stopped_s)]
    return StopOdds(len(moments) / len(runs), spread(moments, "s", len(runs))) if moments else None


def _percentiles(runs: list[_Run]) -> tuple[Floats, Floats, Floats]:
    """p10, p50 and p90 of every series and moment; row by row, which needs little memory."""
    import numpy as np

    count, buckets = runs[0].series.shape
    found = np.zeros((3, count, buckets))
    at = np.array([0.1, 0.5, 0.9]) * (len(runs) - 1)
    low = at.astype(int)
    share = (at - low)[:, None]
    for row in range(count):
        values = np.stack([run.series[row] for run in runs])
        if not (values != values[0]).any():
            found[:, row] = values[0]
            continue
        values = np.sort(values.T, axis=1).T.astype(np.float64)
        high = np.minimum(low + 1, len(runs) - 1)
        found[:, row] = values[low] * (1.0 - share) + values[high] * share
    return found[0], found[1], found[2]
