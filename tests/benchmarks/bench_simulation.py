"""Speed of the simulation beside other ways to simulate the same scenario.

Run with `python tests/benchmarks/bench_simulation.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Generator
from typing import Any

from ndbplan.base.resources import resource_path
from ndbplan.edits.growth import add_node_group
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.simulate.bands import monte_carlo
from ndbplan.simulate.kernel.ready import prepare
from ndbplan.simulate.model.scenario import Scenario, build
from ndbplan.simulate.model.start import first_history, first_world
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate

STEP_S = 0.1
DAY_S = 86_400.0
REQUIRED_STEPS_PER_S = 80e6
REQUIRED_DAY_S = 1.0
REQUIRED_DAY_ALIKE_S = 2.0
REQUIRED_DAY_APART_S = 30.0
REQUIRED_MONTE_CARLO_S = 5.0
REQUIRED_PEAK_MB = 500.0


def best_of(times: int, work: Callable[[], Any]) -> float:
    """Seconds of the quickest of some runs."""
    found = []
    for _ in range(times):
        begin = time.process_time()
        work()
        found.append(time.process_time() - begin)
    return min(found)


def kernel_rate(scenario: Scenario) -> float:
    """Log-part steps per second of one core, compiling and preparing excluded."""
    kernel = prepare()

    def run() -> None:
        world = first_world(scenario)
        kernel(world, first_history(scenario, world), 0, scenario.steps)

    return scenario.steps * scenario.laws.load.size / best_of(3, run)


def wide_scenario(seconds: float) -> Scenario:
    """The overload sample's nodes with 32 log parts each, loaded to three quarters of the disk."""
    plan = load(resource_path("samples/redo-overload.ndbplan"))
    scenario = build(
        Estimation(plan, plan.workload("blobs-1k")),
        duration_s=seconds,
        step_s=STEP_S,
        seed=1,
        every_node=True,
    )
    import numpy as np

    repeat, laws = 8, scenario.laws
    return scenario.with_laws(
        load=np.ascontiguousarray(np.tile(laws.load, (1, repeat)) / repeat),
        share=np.ascontiguousarray(np.tile(laws.share, (1, repeat)) / repeat),
        base=np.ascontiguousarray(np.tile(laws.base, (1, repeat))),
    )


def python_rate(scenario: Scenario, steps: int) -> float:
    """Log-part steps per second of the same buffers and disk stepped in plain Python."""
    count, parts = scenario.laws.load.shape
    load_rows = scenario.laws.load.tolist()
    fill = [[0.0] * parts for _ in range(count)]
    made = [[0.0] * parts for _ in range(count)]
    capacity = scenario.laws.disks[0].write_bytes_per_s * STEP_S
    limit = float(scenario.laws.nodes[0].buffer_limit_bytes)
    offered = float(scenario.laws.offered[0])
    begin = time.process_time()
    for _ in range(steps):
        for n in range(count):
            for p in range(parts):
                need = offered * load_rows[n][p]
                if fill[n][p] + need <= limit:
                    fill[n][p] += need
                    made[n][p] += need
        for n in range(count):
            total = sum(fill[n])
            share = min(1.0, 0.99 * capacity / total) if total else 0.0
            for p in range(parts):
                fill[n][p] -= fill[n][p] * share
    return steps * count * parts / (time.process_time() - begin)


def simpy_rate(scenario: Scenario, seconds: float) -> float:
    """The same in SimPy: each log part a store of bytes, a producer and a writer that take turns."""
    import simpy

    env = simpy.Environment()
    count, parts = scenario.laws.load.shape
    offered = float(scenario.laws.offered[0])
    limit = float(scenario.laws.nodes[0].buffer_limit_bytes)
    capacity = float(scenario.laws.disks[0].write_bytes_per_s) * STEP_S

    def producer(tank: simpy.Container, need: float) -> Generator[Any, Any, None]:
        while True:
            yield env.timeout(STEP_S)
            if tank.level + need <= limit:
                yield tank.put(need)

    def writer(tanks: list[simpy.Container]) -> Generator[Any, Any, None]:
        while True:
            yield env.timeout(STEP_S)
            for tank in tanks:
                amount = min(tank.level, capacity / len(tanks))
                if amount > 0:
                    yield tank.get(amount)

    for n in range(count):
        tanks = [simpy.Container(env, capacity=limit) for _ in range(parts)]
        for p, tank in enumerate(tanks):
            env.process(producer(tank, max(1.0, offered * float(scenario.laws.load[n, p]))))
        env.process(writer(tanks))
    begin = time.process_time()
    env.run(until=seconds)
    return seconds / STEP_S * count * parts / (time.process_time() - begin)


def day_of(plan: Plan, workload_id: str | None) -> float:
    """Seconds that 24 simulated hours take, compiling of the plan included."""
    return best_of(2, lambda: simulate(estimation_of(plan, workload_id), duration_s=DAY_S, step_s=STEP_S))


def loaded_scenario(seconds: float) -> Scenario:
    """telecom-144 with every node apart: 2304 log parts, disks, checkpoints and memory of 144 nodes."""
    plan = load(resource_path("samples/telecom-144.ndbplan"))
    return build(
        Estimation(plan, plan.workloads[0]), duration_s=seconds, step_s=STEP_S, seed=1, every_node=True
    )


def monte_carlo_of(plan: Plan) -> tuple[float, float]:
    """Seconds on the clock and of the processor that 200 runs of an hour take with two workers."""
    begin, busy = time.perf_counter(), time.process_time()
    monte_carlo(estimation_of(plan, "blobs-1k"), runs=200, duration_s=3600, workers=2)
    return time.perf_counter() - begin, time.process_time() - busy


def main() -> None:
    """Print the figures beside their baselines. Seconds are of the processor unless said otherwise."""
    prepare()
    overload = load(resource_path("samples/redo-overload.ndbplan"))
    telecom = load(resource_path("samples/telecom-144.ndbplan"))
    # A day, so that first touching the pages of the results weighs as little as in a run that matters.
    wide = wide_scenario(DAY_S)
    rate = kernel_rate(wide)
    python, simpy = python_rate(wide, 1500), simpy_rate(wide, 60)
    apart = loaded_scenario(1800)
    apart_rate = kernel_rate(apart)
    day_apart = DAY_S / STEP_S * apart.laws.load.size / apart_rate
    print("Simulation, one core, steps of 100 ms")
    for name, value, note in (
        ("kernel, 2 nodes of 32 log parts", rate, f"required {REQUIRED_STEPS_PER_S / 1e6:.0f}"),
        ("kernel, telecom-144, every node apart", apart_rate, f"{apart.laws.load.size} log parts"),
        ("plain Python, buffers and disk only", python, f"the kernel is {rate / python:.0f} x"),
        ("SimPy, buffers and disk only", simpy, f"the kernel is {rate / simpy:.0f} x"),
    ):
        print(f"  {name:40s}{value / 1e6:9.2f} M log-part steps/s   ({note})")
    clock_s, processor_s = monte_carlo_of(add_node_group(overload))
    for name, seconds, required in (
        ("24 h of redo-overload, 2 x 1 KB", day_of(overload, "blobs-1k"), REQUIRED_DAY_S),
        ("24 h of redo-overload, 2 x 5120 B", day_of(overload, "blobs-5k"), REQUIRED_DAY_S),
        ("24 h of telecom-144, alike nodes once", day_of(telecom, None), REQUIRED_DAY_ALIKE_S),
        ("24 h of telecom-144, every node (from 30 min)", day_apart, REQUIRED_DAY_APART_S),
        ("200 x 1 h on 4 nodes, 2 workers, by the clock", clock_s, REQUIRED_MONTE_CARLO_S),
        ("  the same, both processors together", processor_s, 2 * REQUIRED_MONTE_CARLO_S),
    ):
        print(f"  {name:48s}{seconds:8.2f} s   (required: {required:.0f})")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  peak memory of all of it {peak:31.0f} MB  (required: {REQUIRED_PEAK_MB:.0f})")


if __name__ == "__main__":
    main()
