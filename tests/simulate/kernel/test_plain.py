"""The kernel as plain Python: the compiler changes nothing of what the laws say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from ndbplan.base.resources import resource_path
from ndbplan.plan.file import load
from ndbplan.simulate.arrays import Arrays, StartState
from ndbplan.simulate.kernel.ready import prepare
from ndbplan.simulate.model.scenario import Scenario, compile_scenario

Kernel = Callable[..., None]


def _scenario(sample: str, workload: int, step_s: float, every_node: bool) -> Scenario:
    plan = load(resource_path(f"samples/{sample}.ndbplan"))
    return compile_scenario(
        plan, plan.workloads[workload], duration_s=25, step_s=step_s, seed=5, every_node=every_node
    )


def _overloaded(scenario: Scenario) -> Scenario:
    """Small buffers and logs, five times the load, a checkpoint at once, and bursts between."""
    nodes, run = scenario.nodes.copy(), scenario.run.copy()
    for node in nodes:
        node.buffer_limit_bytes /= 4.0
        node.log_limit_bytes = min(node.log_limit_bytes, 3.0 * node.file_bytes)
    run.lcp_threshold_bytes = 1e6
    offered = scenario.offered * np.where(np.arange(len(scenario.offered)) // 40 % 2, 5.0, 0.2)
    return replace(scenario, nodes=nodes, run=run, offered=offered)


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
            mine = replace(case, run=case.run.copy(), nodes=case.nodes.copy())
            arrays = Arrays.fresh(mine, StartState(first_lcp_s=0.5))
            with np.errstate(all="ignore"):
                arrays.advance(kernel, mine, 0, mine.steps)
            found.append(arrays)
        errors += float(found[0].errors.sum())
        for name, compiled_array in vars(found[0]).items():
            if isinstance(compiled_array, np.ndarray | np.record):
                # As numbers: between the fields of a row there are bytes that mean nothing.
                assert compiled_array.tolist() == getattr(found[1], name).tolist(), name
        assert found[0].accepted > 0
    if sample == "redo-overload":
        assert errors > 0, "work is refused: the laws of refusal are among those compared"
