"""Values behind an address are spelled as people write them, and mean what they meant."""

from __future__ import annotations

import pytest

from ndbplan.base.errors import UserError
from ndbplan.edits.address import resolve
from ndbplan.edits.assign import assign, value_of
from ndbplan.edits.places import walk
from ndbplan.edits.spelled import spelled
from ndbplan.plan.plan import Plan
from ndbplan.plan.samples import sample_names, sample_plan

STARTER = sample_plan("starter")


@pytest.mark.parametrize(
    ("address", "value", "text"),
    [
        ("DataMemory", 50 * 2**30, "50G"),
        ("DataMemory", 50 * 2**30 + 1, "53687091201"),
        ("RedoBuffer", 64 * 2**20, "64M"),
        ("MaxNoOfConcurrentOperations", 32768, "32768"),
        ("hosts[host-a1].memory", 64 * 2**30, "64GiB"),
        ("hosts[host-a1].memory", 64 * 10**9, "64GB"),
        ("hosts[host-a1].cores", 1024, "1024"),
        ("hosts[host-a1].disks[0].capacity", 2 * 10**12, "2TB"),
        ("redo.disk.write", 250e6, "250MB/s"),
        ("redo.disk.write", 1.25e9, "1250MB/s"),
        ("redo.disk.write", 452348993.289, "452348993.289"),
        ("hosts[host-a1].disks[0].random_read_iops", 6000.0, "6000"),
    ],
)
def test_what_has_a_unit_is_spelled_with_it(address: str, value: float, text: str) -> None:
    place = resolve(STARTER, address.replace("disks[0]", f"disks[{STARTER.hosts[0].disks[0].id}]"))[0]
    assert spelled(place, value) == text
    assert value_of(STARTER, place, text) == value


def test_every_number_of_the_samples_means_itself_as_it_is_spelled() -> None:
    seen = 0
    for name in sample_names():
        plan: Plan = sample_plan(name)
        for place in walk(plan):
            if isinstance(place.value, int | float):
                try:
                    read = value_of(plan, place, spelled(place, place.value))
                except UserError as error:
                    # A text that stands for the number that an older version knew.
                    raise AssertionError(f"{name} {place.address(plan)}: {error.line}") from None
                assert read == place.value, place.address(plan)
                seen += 1
    assert seen > 2000


def test_a_refusal_tells_what_is_there_as_people_write_it() -> None:
    for text, told in (
        ("hosts[host-a1].memory=-5", "(it is 256GiB)"),
        ("DataMemory=5", "(it is 128G)"),
        ("redo.disk.write=7x", "(it is 1900MB/s)"),
    ):
        with pytest.raises(UserError) as refused:
            assign(STARTER, text)
        assert told in refused.value.line
