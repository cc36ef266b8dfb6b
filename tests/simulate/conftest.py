"""Plans that the tests of the simulation share."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from ndbplan.base import compiled
from ndbplan.base.resources import resource_path
from ndbplan.base.row_types import column
from ndbplan.plan.file import load
from ndbplan.plan.plan import Plan
from ndbplan.simulate.kernel import ready
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.simulation import Simulation
from ndbplan.simulate.world.indices import Part, Purpose


@pytest.fixture(scope="session")
def overload() -> Plan:
    """Two data nodes whose disk cannot take redo log and checkpoints of big blobs (article redo-overload)."""
    return load(resource_path("samples/redo-overload.ndbplan"))


@pytest.fixture(scope="session")
def telecom() -> Plan:
    """144 data nodes in 72 groups."""
    return load(resource_path("samples/telecom-144.ndbplan"))


def conserved(sim: Simulation) -> None:
    """What was made is written, held or lost with its node, to the byte; every attempt has an end."""
    parts, cluster = sim.state.parts, sim.state.cluster
    assert np.all(parts[Part.FILL] >= 0)
    on_disk = parts[Part.MADE] - parts[Part.FILL] - parts[Part.LOST]
    factor = column(sim.laws.nodes, lambda node: node.device_factor)
    if np.all(factor == 1.0):
        assert on_disk.sum() == sim.history.disk[:, :, Purpose.REDO].sum()
    ended = cluster.accepted + cluster.refused + cluster.waiting
    assert ended == pytest.approx(cluster.attempted, rel=1e-9, abs=1e-6)


@pytest.fixture(autouse=True)
def every_run_conserves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each simulation that a test runs is held against conservation."""
    whole = SimulationResult.of.__func__

    def of(cls: type[SimulationResult], sim: Simulation) -> SimulationResult:
        conserved(sim)
        return whole(cls, sim)

    monkeypatch.setattr(SimulationResult, "of", classmethod(of))


@pytest.fixture(scope="session")
def plain_modules() -> dict[str, ModuleType]:
    """The modules of the kernel by their names, as plain Python, not compiled."""
    ready.prepare()
    modules = [f"ndbplan.simulate.kernel.{source[:-3]}" for source in ready.SOURCES if source[0] != "."]
    kept = {name: sys.modules.pop(name) for name in modules}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "compiled", lambda function: function)
        patch.setattr(compiled, "inlined", lambda function: function)
        importlib.import_module(modules[-1])
        found = {name.rpartition(".")[2]: sys.modules[name] for name in modules if name in sys.modules}
    # Whoever asks for these modules from now on gets the compiled ones again.
    for name, module in kept.items():
        sys.modules[name] = module
        setattr(sys.modules[module.__package__ or ""], name.rpartition(".")[2], module)
    assert not hasattr(found["advance"].advance, "py_func")
    return found


@pytest.fixture(scope="session")
def plain_kernel(plain_modules: dict[str, ModuleType]) -> Callable[..., None]:
    """`advance` and all that it calls as plain Python. For short runs."""
    advance: Callable[..., None] = plain_modules["advance"].advance
    return advance


@pytest.fixture(params=["compiled", "plain Python"])
def kernel_module(request: pytest.FixtureRequest) -> Callable[[str], ModuleType]:
    """A module of the kernel by its name: its laws hold as machine code and as plain Python."""
    if request.param == "compiled":
        return lambda name: importlib.import_module(f"ndbplan.simulate.kernel.{name}")
    plain: dict[str, ModuleType] = request.getfixturevalue("plain_modules")
    return lambda name: plain[name]


@pytest.fixture(params=["compiled", "plain Python"])
def kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The law that a test is about holds with the compiler and without; which of them this is."""
    if request.param != "compiled":
        plain = request.getfixturevalue("plain_kernel")
        monkeypatch.setattr(ready, "prepare", lambda: plain)
    return str(request.param)


@pytest.fixture
def both_kernels(kernel: str) -> None:
    """The same, for a test whose runs are short in any case."""
