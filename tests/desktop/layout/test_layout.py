"""Where things stand: racks hold their hosts, nothing overlaps, what did not change is the same object."""

from __future__ import annotations

from itertools import combinations

import pytest

from ndbplan.desktop.layout.layout import Layouter, columns_of
from ndbplan.desktop.look import theme
from ndbplan.edits import arrange
from ndbplan.edits import parts as edits
from ndbplan.edits.roles import assign_role
from ndbplan.plan.fields import Point
from ndbplan.plan.processes import DiskRole
from ndbplan.plan.samples import sample_names, sample_plan


@pytest.fixture(autouse=True)
def fonts(qapp) -> None:
    theme.load_fonts()


def _overlap(one, other) -> bool:
    return one.x < other.right and other.x < one.right and one.y < other.bottom and other.y < one.bottom


@pytest.mark.parametrize("name", sample_names())
def test_samples_are_laid_out_without_overlaps(name: str) -> None:
    plan = sample_plan(name)
    layout = Layouter().layout(plan)
    assert set(layout.hosts) == {h.id for h in plan.hosts}
    assert set(layout.locations) == {p.id for p in plan.locations}
    for one, other in combinations([h.rect for h in layout.hosts.values()], 2):
        assert not _overlap(one, other)
    for one, other in combinations([p.rect for p in layout.locations.values()], 2):
        assert not _overlap(one, other)
    for place in layout.locations.values():
        for host_id in place.hosts:
            rect = layout.hosts[host_id].rect
            assert place.rect.x < rect.x
            assert rect.right < place.rect.right
            assert place.rect.y < rect.y
            assert rect.bottom < place.rect.bottom


@pytest.mark.parametrize("name", sample_names())
def test_chips_and_tiles_lie_inside_their_card(name: str) -> None:
    for box in Layouter().layout(sample_plan(name)).hosts.values():
        inner = [c.rect for c in box.card.chips] + [t.rect for t in box.card.tiles]
        for rect in inner:
            assert rect.x >= 0
            assert rect.right <= box.rect.width
            assert rect.bottom < box.card.height
        for one, other in combinations(inner, 2):
            assert not _overlap(one, other)


def test_an_edit_keeps_every_card_it_does_not_concern() -> None:
    plan = sample_plan("telecom-144")
    layouter = Layouter()
    before = layouter.layout(plan)
    target = plan.hosts[7].id
    after = layouter.layout(edits.update(plan, target, cores=3))
    changed = [h for h in after.hosts if after.hosts[h].card is not before.hosts[h].card]
    assert changed == [target]
    assert after.hosts[target].card.subtitle.startswith("3 cores")


def test_moving_one_thing_moves_nothing_else() -> None:
    plan = sample_plan("add-nodes")
    before = Layouter().layout(plan)
    first = plan.hosts[0].id
    after = Layouter().layout(edits.move(plan, {first: Point(x=-900, y=-900)}))
    assert (after.hosts[first].x, after.hosts[first].y) == (-900, -900)
    for host in plan.hosts[1:]:
        assert after.hosts[host.id].rect == before.hosts[host.id].rect


def test_tidy_undoes_every_placement() -> None:
    plan = sample_plan("add-nodes")
    before = Layouter().layout(plan)
    moved = edits.move(plan, {h.id: Point(x=i * 99, y=7) for i, h in enumerate(plan.hosts)})
    assert Layouter().layout(arrange.tidy(moved)).hosts == before.hosts


def test_groups_join_the_nodes_that_share_data() -> None:
    layout = Layouter().layout(sample_plan("telecom-144"))
    assert len(layout.groups) == 72
    assert {len(members) for members in layout.groups.values()} == {2}


def test_a_tile_says_what_is_written_to_its_disk() -> None:
    plan = sample_plan("starter")
    node = plan.data_nodes[0]
    disks = plan.host(node.host_id).disks
    tiles = {t.disk.id: t for t in Layouter().layout(plan).hosts[node.host_id].card.tiles}
    assert "REDO" in tiles[node.disk_roles.redo].all_roles
    for role in DiskRole:
        plan = assign_role(plan, node.id, role, disks[0].id)
    tiles = {t.disk.id: t for t in Layouter().layout(plan).hosts[node.host_id].card.tiles}
    assert tiles[disks[0].id].roles == "All roles"
    assert tiles[disks[1].id].roles == "no role"


def test_racks_grow_columns_before_they_get_too_tall() -> None:
    assert [columns_of(n) for n in (0, 1, 6, 7, 36, 144)] == [1, 1, 1, 2, 3, 6]


def test_chips_name_the_program_that_the_version_has(qapp) -> None:
    layouts = Layouter()
    plan = sample_plan("starter")
    for version, program in (("8.4", "ndbmtd"), ("6.3", "ndbd"), ("7.0", "ndbmtd")):
        laid = layouts.layout(plan.replace(ndb_version=version))
        texts = [chip.text for box in laid.hosts.values() for chip in box.card.chips if chip.kind == "data"]
        assert texts
        assert all(text.startswith(f"{program} ") for text in texts)
