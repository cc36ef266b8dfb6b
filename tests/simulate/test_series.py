"""Series are declared once: what files and bands hold follows."""

from __future__ import annotations

import re
from typing import get_type_hints

from ndbplan.plan.plan import Plan
from ndbplan.simulate.bands import monte_carlo
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.result import SimulationResult
from ndbplan.simulate.run import simulate
from ndbplan.simulate.series import SERIES, DiskSeries, Floats, NodeSeries, PartSeries

UNITS = {"tx", "tx/s", "s", "bytes", "bytes/s", "fraction"}


def test_columns_and_bands_are_the_declared_series(overload: Plan) -> None:
    names = [re.escape(one.name).replace(r"\{\}", r"\d+") for one in SERIES]
    known = re.compile(f"(.+_)?({'|'.join(names)})")
    head = simulate(estimation_of(overload, "blobs-5k"), duration_s=90).to_csv().splitlines()[0].split(",")
    assert head[0] == "t_s"
    assert [name for name in head[1:] if not known.fullmatch(name)] == []
    bands = monte_carlo(estimation_of(overload, "blobs-5k"), runs=2, duration_s=60)
    assert bands.details
    units = {one.name: one.unit for one in SERIES}
    for band in bands.details:
        found = known.fullmatch(band.name)
        assert found, band.name
        assert band.unit == units[re.sub(r"^error_\d+", "error_{}", found[2])]


def test_units_are_units() -> None:
    assert {one.unit for one in SERIES} == UNITS


def test_a_declared_series_is_one_of_what_it_is_of() -> None:
    holders = {
        "cluster": SimulationResult, "error": SimulationResult, "checkpoints": SimulationResult,
        "part": PartSeries, "node": NodeSeries, "disk": DiskSeries, "purpose": DiskSeries,
    }  # fmt: skip
    kinds = (Floats, dict[int, Floats], dict[str, Floats])
    assert [one.name for one in SERIES if get_type_hints(holders[one.of]).get(one.field) not in kinds] == []
