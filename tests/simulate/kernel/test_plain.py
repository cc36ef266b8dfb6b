"""The kernel as plain Python: the compiler changes nothing of what the laws say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from ndbplan.base.resources import resource_path
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.file import load
from ndbplan.simulate.kernel.ready import prepare
from ndbplan.simulate.model.scenario import Scenario, build
from ndbplan.simulate.model.start import StartState, first_history, first_world
from ndbplan.simulate.world.world import History, World

Kernel = Callable[..., None]


def _scenario(sample: str, workload: int, step_s: float, every_node: bool) -> Scenario:
    plan = load(resource_path(f"samples/{sample}.ndbplan"))
    return build(
        Estimation(plan, plan.workloads[workload]),
        duration_s=25,
        step_s=step_s,
        seed=5,
        every_node=every_node,
    )


def _overloaded(scenario: Scenario) -> Scenario:
    """Small buffers and logs, five times the load, a checkpoint at once, and bursts between."""
    laws = scenario.laws
    nodes, run = laws.nodes.copy(), laws.run.copy()
    for node in nodes:
        node.buffer_limit_bytes /= 4.0
        node.log_limit_bytes = min(node.log_limit_bytes, 3.0 * node.file_bytes)
    run.lcp_threshold_bytes = 1e6
    offered = laws.offered * np.where(np.arange(len(laws.offered)) // 40 % 2, 5.0, 0.2)
    return scenario.with_laws(nodes=nodes, run=run, offered=offered)


def _named(one: tuple[World, History], other: tuple[World, History]) -> Iterator[tuple[str, Any, Any]]:
    """Each array of two runs, by its name."""
    for mine, theirs in ((one[0].laws, other[0].laws), (one[0].state, other[0].state), (one[1], other[1])):
        yield from zip(mine._fields, mine, theirs, strict=True)


@pytest.mark.parametrize("every_node", [False, True])
@pytest.mark.parametrize(
    ("sample", "workload", "step_s"),
    [
        ("redo-overload", 0, 0.1),
        ("redo-overload", 2, 0.1),
        ("disk-data", 0, 0.2),
        ("node-restart", 0, 0.1),
        ("starter", 1, 0.25),
    ],
)
def test_the_same_bits_with_and_without_the_compiler(
    plain_kernel: Kernel, sample: str, workload: int, step_s: float, every_node: bool
) -> None:
    scenario = _scenario(sample, workload, step_s, every_node)
    errors = 0.0
    for case in (scenario, _overloaded(scenario)):
        found = []
        for kernel in (prepare(), plain_kernel):
            world = first_world(case, StartState(first_lcp_s=0.5))
            history = first_history(case, world)
            with np.errstate(all="ignore"):
                kernel(world, history, 0, case.steps)
            found.append((world, history))
        world, history = found[0]
        errors += float(world.state.errors.sum())
        for name, mine, plain in _named(found[0], found[1]):
            # As numbers: between the fields of a row there are bytes that mean nothing.
            assert mine.tolist() == plain.tolist(), name
        assert world.state.cluster.accepted > 0
    if sample == "redo-overload":
        assert errors > 0, "work is refused: the laws of refusal are among those compared"
