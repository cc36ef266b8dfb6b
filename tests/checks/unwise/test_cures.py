"""Cures that are worked out: as much as it takes, and not much more."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ndbplan.base.quantity import Quantity
from ndbplan.base.units import MIB, format_bytes
from ndbplan.checks.problem import Severity
from ndbplan.checks.run import check
from ndbplan.checks.unwise.disk_cures import _place_for, _severity, larger_disk
from ndbplan.checks.unwise.disks import _more_files
from ndbplan.checks.unwise.redo import _longer_log, wanted_log
from ndbplan.configuration.settings import node_settings, nodes_alike
from ndbplan.edits.parameters import set_parameter
from ndbplan.edits.parts import update
from ndbplan.estimate.estimation import Estimation
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_plan
from ndbplan.plan.workloads import OpenLoad, RatePoint


def gigabytes(value: float, low: float | None = None) -> Quantity:
    return Quantity(value, value if low is None else low, value, "bytes")


def disk(used: float, full: float, full_low: float, capacity: float = 100.0, **roles: float) -> Any:
    """A disk with files of roles; with DataMemory full each takes 2 more at most, 1 at least."""

    def of(role: DiskRole) -> Quantity:
        return gigabytes(roles.get(role, 0.0))

    def full_of(role: DiskRole) -> Quantity:
        size = roles.get(role, 0.0)
        return gigabytes(size + 2, size + 1) if size else gigabytes(0)

    return SimpleNamespace(
        of=of, full_of=full_of, used_bytes=gigabytes(used), memory_full_bytes=gigabytes(full, full_low),
        capacity_bytes=capacity, free_bytes=capacity - used,
    )  # fmt: skip


LCP, REDO = DiskRole.LCP, DiskRole.REDO


@pytest.mark.parametrize(
    ("there", "sign", "moved", "severity"),
    [
        (disk(95, 98, 96, lcp=5), -1, (LCP,), None),
        (disk(95, 98, 96, lcp=4), -1, (LCP,), Severity.WARNING),
        (disk(95, 98, 96, lcp=2, redo=3), -1, (LCP, REDO), None),
        (disk(90, 107, 103, lcp=5), -1, (LCP,), None),
        (disk(90, 108, 103, lcp=5), -1, (LCP,), Severity.WARNING),
        (disk(90, 110, 106, lcp=5), -1, (LCP,), Severity.WARNING),
        (disk(90, 110, 107, lcp=5), -1, (LCP,), Severity.ERROR),
        (disk(85, 90, 88), 1, (LCP,), None),
        (disk(86, 90, 88), 1, (LCP,), Severity.WARNING),
        (disk(96, 90, 88), 1, (LCP,), Severity.ERROR),
        (disk(50, 93, 90), 1, (LCP,), None),
        (disk(50, 94, 90), 1, (LCP,), Severity.WARNING),
        (disk(50, 99, 94), 1, (LCP,), Severity.WARNING),
        (disk(50, 99, 95), 1, (LCP,), Severity.ERROR),
        (None, 1, (LCP,), None),
    ],
)
def test_how_full_a_disk_is_with_files_or_without(
    there: Any, sign: int, moved: tuple[DiskRole, ...], severity: Severity | None
) -> None:
    source = there if sign < 0 else disk(5, 7, 6, lcp=5)
    assert _severity(there, sign, source, moved, 100) is severity


def test_files_go_to_the_emptiest_disk_that_takes_them() -> None:
    spaces = {
        "small": disk(5, 5, 5, 20),
        "full": disk(89, 90, 90),
        "large": disk(80, 80, 80, 400),
        "new": None,
    }
    now: Any = SimpleNamespace(disk_space=SimpleNamespace(of=spaces.get))
    others: list[Any] = [
        SimpleNamespace(id=name, capacity_bytes=60 if space is None else space.capacity_bytes)
        for name, space in spaces.items()
    ]

    def chosen(*names: str, size: float = 5.0) -> str | None:
        place = _place_for(now, [o for o in others if o.id in names], disk(50, 50, 50, lcp=size), (LCP,))
        return None if place is None else place.id

    assert chosen(*spaces) == "large"
    assert chosen("small", "full", "new") == "new"
    assert chosen("small", "full") == "small"
    assert chosen("small", "full", size=12.0) == "small"
    assert chosen("small", "full", size=14.0) is None
    assert chosen("full") is None
    assert chosen("small", "new", size=55.0) is None


@pytest.mark.parametrize(
    ("used", "full", "least", "bytes_wanted", "for_memory"),
    [
        (90, 95, 0, 100, False),
        (90, 100, 0, 100, False),
        (90, 101, 0, 101, True),
        (90, 120, 150, 150, False),
        (90, 200, 150, 200, True),
        (0, 0, 0, 0, False),
        (900_100, 0, 0, 1_010_000, False),
    ],
)
def test_a_larger_disk_has_a_tenth_free_and_holds_a_full_memory(
    used: float, full: float, least: float, bytes_wanted: float, for_memory: bool
) -> None:
    words = larger_disk(disk(used, full, full), least) if least else larger_disk(disk(used, full, full))
    assert words.startswith(f"take a disk of {format_bytes(bytes_wanted)} at least")
    assert words.endswith("DataMemory too") is for_memory


def test_a_redo_log_that_is_too_short_is_made_as_long_as_it_takes() -> None:
    plan = sample_plan("redo-overload")
    load = OpenLoad(points=(RatePoint(at_s=0, rate_per_s=120_000),))
    plan = update(plan, plan.workloads[0].id, load=load, events=())
    (short,) = (problem for problem in check(plan) if problem.rule == "redo-log-seconds")
    assert short.edit is not None
    after = short.edit(plan)
    lasts_s = [Estimation(p, p.workloads[0]).redo.time_to_full_s for p in (plan, after)]
    assert lasts_s[0] is not None
    assert lasts_s[1] is not None
    assert lasts_s[0].value < 64 <= lasts_s[1].value < 1.2 * 64
    size = node_settings(plan).number("FragmentLogFileSize")
    assert (short.fix or "").startswith("set NoOfFragmentLogFiles of all data nodes to ")
    assert "FragmentLogFileSize" not in (short.fix or "")
    small = set_parameter(plan, "data_node", "FragmentLogFileSize", size // 64)
    words = _longer_log(Estimation(small), plan.workloads[0], 1.0)[0]
    assert "FragmentLogFileSize to " in words
    now = Estimation(plan)
    apart = update(plan, plan.data_nodes[0].id, parameters={"NoOfFragmentLogFiles": 20})
    assert _longer_log(Estimation(apart), plan.workloads[0], 1.0)[0].count("NoOfFragmentLogFiles of ") == 2
    assert _longer_log(now, plan.workloads[0], 0.5)[1] is not None
    assert _longer_log(now, plan.workloads[0], 0.0)[1] is None


def test_a_tablespace_gets_as_much_as_keeps_a_twentieth_free() -> None:
    plan = sample_plan("disk-data")
    now = Estimation(plan)
    use = now.disk_data.tablespaces[0]
    space = plan.tablespaces[0]
    too_full: Any = SimpleNamespace(
        tablespace=space.name, capacity_bytes=use.capacity_bytes, used_bytes=gigabytes(use.capacity_bytes),
        pages_bytes=use.capacity_bytes,
    )  # fmt: skip
    words, larger = _more_files(now, too_full)
    assert larger is not None
    assert words.startswith("let the data files have ")
    assert words.endswith(" more"), "a button does one thing"
    grown = Estimation(larger(plan)).disk_data.tablespaces[0].capacity_bytes
    assert grown >= use.capacity_bytes / 0.95
    files = sum(file.count for file in space.data_files)
    assert grown < use.capacity_bytes / 0.95 + 2 * space.extent_size_bytes * files, (
        "an extent more of each file"
    )
    too_full.used_bytes = gigabytes(1e15)
    words, larger = _more_files(now, too_full)
    assert larger is None
    assert "do not fit" in words


@pytest.mark.parametrize(
    ("size", "buffer", "good"),
    [
        (63, 32, 256),
        (64, 64, 64),
        (64, 65, 256),
        (16, 256, 256),
        (16, 257, 512),
        (256, 256, 256),
        (256, 257, 512),
        (300, 512, 512),
        (16, 513, 1024),
        (512, 513, 1024),
        (16, 2000, 1024),
    ],
)
def test_files_of_a_log_that_much_is_written_to_hold_a_buffer(size: int, buffer: int, good: int) -> None:
    """And are 64 MiB at least; of those that are not, the best. All in MiB."""
    plan = sample_plan("redo-overload")
    for name, value in (("FragmentLogFileSize", size), ("RedoBuffer", buffer)):
        plan = set_parameter(plan, "data_node", name, value * MIB)
    now = Estimation(plan)
    (alike,) = nodes_alike(plan)
    assert wanted_log(now, alike)[0] == good * MIB
    calm = plan.replace(workloads=())
    assert wanted_log(Estimation(calm), alike)[0] == size * MIB


@pytest.mark.parametrize(("extent_bytes", "is_told"), [(MIB, False), (128 * MIB, True)])
def test_extents_are_blamed_where_rows_leave_most_of_them_empty(extent_bytes: int, is_told: bool) -> None:
    """A tablespace that rows had filled was said to want smaller extents."""
    plan = sample_plan("disk-data")
    table, space = plan.tables[0], plan.tablespaces[0]
    use = Estimation(plan).disk_data.tablespaces[0]
    # As many rows as fill the files, or a few, each of whose fragments takes an extent as large as the file.
    rows = 1000 if is_told else int(table.rows / use.fill.value)
    files = [space.data_files[0].model_copy(update={"count": 1})] if is_told else space.data_files
    plan = update(plan, table.id, rows=rows)
    plan = update(plan, space.id, extent_size_bytes=extent_bytes, data_files=tuple(files))
    found = [one.message for one in check(plan) if one.message.startswith("the tables take ")]
    assert ["EXTENT_SIZE" in one for one in found] == [is_told]
