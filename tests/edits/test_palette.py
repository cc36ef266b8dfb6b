"""What the palette makes is a valid part under free names."""

from __future__ import annotations

import pytest

from ndbplan.edits import offers
from ndbplan.edits import palette as catalogue
from ndbplan.edits import parts as edits
from ndbplan.edits.validated import EditError
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan

HOSTS = [o.key for o in catalogue.offers() if o.kind == "host"]
DISKS = [o.key for o in catalogue.offers() if o.kind == "disk"]


def test_keys_are_unique_and_unknown_ones_are_refused() -> None:
    keys = [o.key for o in catalogue.offers()]
    assert len(set(keys)) == len(keys)
    with pytest.raises(KeyError):
        catalogue.offer("teapot")


@pytest.mark.parametrize("key", HOSTS)
def test_a_hundred_hosts_have_a_hundred_names(key) -> None:
    plan = EMPTY_PLAN
    for _ in range(100):
        plan = edits.add(plan, offers.make_host(plan, key))
    assert len({h.hostname for h in plan.hosts}) == 100
    assert all(h.disks for h in plan.hosts)


@pytest.mark.parametrize("key", DISKS)
def test_disks_of_one_host_share_neither_name_nor_mount_point(key) -> None:
    plan = edits.add(EMPTY_PLAN, offers.make_host(EMPTY_PLAN, HOSTS[0]))
    for _ in range(6):
        host = plan.hosts[0]
        plan = edits.add_disk(plan, host.id, offers.make_disk(plan, host, key))
    disks = plan.hosts[0].disks
    assert len({d.name for d in disks}) == len({d.mount_point for d in disks}) == len(disks) == 7


def test_racks_are_lettered_on() -> None:
    plan = sample_plan("starter")
    assert offers.make_location(plan).name == "Rack D"


def test_a_node_without_a_host_is_refused_but_an_api_slot_is_not() -> None:
    plan = sample_plan("starter")
    assert offers.make_process(plan, "api", None).host_id is None
    with pytest.raises(EditError):
        offers.make_process(plan, "data", None)
