"""Speed of the simulation beside other ways to simulate the same scenario.

Run with `python tests/benchmarks/bench_simulation.py`, or from `make bench` through `main()`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from ndbplan.base.resources import resource_path
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.simulate.kernel import prepare
from ndbplan.simulate.run import Arrays, StartState, simulate
from ndbplan.simulate.scenario import Scenario, compile_scenario

STEP_S = 0.1
DAY_S = 86_400.0
REQUIRED_STEPS_PER_S = 50e6
REQUIRED_DAY_S = 1.0


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
        arrays = Arrays.fresh(scenario, StartState())
        arrays.advance(kernel, scenario, 0, scenario.steps)

    return scenario.steps * scenario.load.size / best_of(3, run)


def wide_scenario(seconds: float) -> Scenario:
    """The overload sample's nodes with 32 log parts each, loaded to three quarters of the disk."""
    plan = load(resource_path("samples/redo-overload.ndbplan"))
    scenario = compile_scenario(
        plan, plan.workload("blobs-1k"), duration_s=seconds, step_s=STEP_S, seed=1, every_node=True
    )
    import numpy as np

    repeat = 8
    return replace(
        scenario,
        load=np.ascontiguousarray(np.tile(scenario.load, (1, repeat)) / repeat),
        share=np.ascontiguousarray(np.tile(scenario.share, (1, repeat)) / repeat),
        base=np.ascontiguousarray(np.tile(scenario.base, (1, repeat))),
        ldm_of=np.ascontiguousarray(np.tile(scenario.ldm_of, (1, repeat))),
    )


def python_rate(scenario: Scenario, steps: int) -> float:
    """Log-part steps per second of the same buffers and disk stepped in plain Python."""
    count, parts = scenario.load.shape
    load_rows = scenario.load.tolist()
    fill = [[0.0] * parts for _ in range(count)]
    made = [[0.0] * parts for _ in range(count)]
    capacity = scenario.disks[0, 0] * STEP_S
    limit = float(scenario.nodes[0, 0])
    offered = float(scenario.offered[0])
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
    count, parts = scenario.load.shape
    offered = float(scenario.offered[0])
    limit = float(scenario.nodes[0, 0])
    capacity = float(scenario.disks[0, 0]) * STEP_S

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
            env.process(producer(tank, max(1.0, offered * float(scenario.load[n, p]))))
        env.process(writer(tanks))
    begin = time.process_time()
    env.run(until=seconds)
    return seconds / STEP_S * count * parts / (time.process_time() - begin)


def day_of(plan: Plan, workload_id: str | None) -> float:
    """Seconds that 24 simulated hours take, compiling of the plan included."""
    return best_of(2, lambda: simulate(plan, workload_id, duration_s=DAY_S, step_s=STEP_S))


def main() -> None:
    """Print the figures beside their baselines."""
    prepare()
    overload = load(resource_path("samples/redo-overload.ndbplan"))
    telecom = load(resource_path("samples/telecom-144.ndbplan"))
    scenario = wide_scenario(7200)
    rate = kernel_rate(scenario)
    python = python_rate(scenario, 1500)
    simpy = simpy_rate(scenario, 60)
    print("Simulation, one core, steps of 100 ms")
    print(
        f"  kernel            {rate / 1e6:8.1f} M log-part steps/s"
        f"   (required: {REQUIRED_STEPS_PER_S / 1e6:.0f})"
    )
    print(f"  plain Python      {python / 1e6:8.2f} M log-part steps/s   kernel is {rate / python:.0f} x")
    print(f"  SimPy             {simpy / 1e6:8.3f} M log-part steps/s   kernel is {rate / simpy:.0f} x")
    for name, plan, workload in (
        ("redo-overload, 2 x 1 KB", overload, "blobs-1k"),
        ("redo-overload, 2 x 5120 B", overload, "blobs-5k"),
        ("telecom-144, alike nodes once", telecom, None),
    ):
        print(
            f"  24 h of {name:32s}{day_of(plan, workload):7.2f} s"
            f"   (required: {REQUIRED_DAY_S:.0f} for 2 nodes)"
        )


if __name__ == "__main__":
    main()
