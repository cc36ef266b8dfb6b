"""The scene follows any change of the plan, touching only what changed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPathStroker

from ndbplan.describe.overlay import Loads, percent
from ndbplan.desktop.canvas.disk_item import DiskItem, named
from ndbplan.desktop.canvas.items import HostItem, ProcessItem
from ndbplan.desktop.canvas.scene import CanvasScene
from ndbplan.desktop.look import theme
from ndbplan.desktop.look.text import text_width
from ndbplan.edits import arrange
from ndbplan.edits import parts as edits
from ndbplan.edits.roles import move_process
from ndbplan.plan.fields import Point
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan


def _shown(scene: CanvasScene) -> dict:
    """What stands where, by the objects shown; independent of how the scene came there."""
    items = [i for i in scene.items() if hasattr(i, "object_ids")]
    return {(i.kind, i.object_ids): i.rect_in_scene().getRect() for i in items}


def _fresh(plan) -> dict:
    scene = CanvasScene(theme.DARK)
    scene.show_plan(plan)
    return _shown(scene)


def test_items_of_what_did_not_change_are_the_same_items(qapp) -> None:
    plan = sample_plan("starter")
    scene = CanvasScene(theme.DARK)
    scene.show_plan(plan)
    before = {i: scene.item_of(i) for i in plan.by_id}
    node = plan.data_nodes[0]
    scene.show_plan(move_process(plan, node.id, "app-a1"))
    assert all(scene.item_of(i) is item for i, item in before.items() if i != node.id)
    scene.show_plan(plan)
    assert _shown(scene) == _fresh(plan)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_reconciling_step_by_step_shows_the_same_as_starting_fresh(qapp, steps, choose) -> None:
    plan = sample_plan("starter")
    scene = CanvasScene(theme.DARK)
    scene.show_plan(plan)
    for step in steps:
        parts = [*plan.hosts, *plan.locations, *plan.processes]
        if not parts:
            plan = sample_plan("add-nodes")
        elif step < 4:
            plan = edits.remove(plan, [choose.choice(parts).id])
        elif step < 7 and plan.hosts and any(p.host_id for p in plan.processes):
            process = choose.choice([p for p in plan.processes if p.host_id])
            plan = move_process(plan, process.id, choose.choice(plan.hosts).id)
        elif step == 7 and plan.hosts:
            plan = edits.move(plan, {choose.choice(plan.hosts).id: Point(x=choose.randint(-50, 50), y=3)})
        else:
            plan = sample_plan(choose.choice(("starter", "add-nodes", "disk-data")))
        scene.show_plan(plan)
        assert _shown(scene) == _fresh(plan)


def test_an_empty_plan_leaves_nothing_behind(qapp) -> None:
    scene = CanvasScene(theme.DARK)
    scene.show_plan(sample_plan("starter"))
    scene.show_plan(EMPTY_PLAN)
    assert scene.items() == []
    assert scene.item_of("host-a1") is None


def test_from_far_away_only_hosts_are_shown(qapp) -> None:
    scene = CanvasScene(theme.DARK)
    scene.show_plan(sample_plan("starter"))
    scene.set_zoom(0.2)
    kinds = {type(i) for i in scene.items() if i.isVisible()}
    assert ProcessItem not in kinds
    assert DiskItem not in kinds
    assert HostItem in kinds
    scene.set_zoom(1.0)
    assert {ProcessItem, DiskItem} <= {type(i) for i in scene.items() if i.isVisible()}


def test_a_place_finds_what_lies_on_top(qapp) -> None:
    scene = CanvasScene(theme.DARK)
    plan = sample_plan("starter")
    scene.show_plan(plan)
    node = plan.data_nodes[0]
    centre = scene.item_of(node.id).rect_in_scene().center()
    assert scene.item_at(centre).object_id == node.id
    assert scene.item_at(centre, "host").object_id == node.host_id
    assert scene.item_at(centre, "location").object_id == plan.host(node.host_id).location_id
    assert scene.item_at(QPointF(-5000, 0)) is None


@pytest.mark.parametrize("what", ["disks", "space"])
def test_loads_are_painted_where_they_belong(qapp, what) -> None:
    from PySide6.QtGui import QImage, QPainter

    def picture(scene: CanvasScene) -> QImage:
        image = QImage(900, 500, QImage.Format.Format_RGB32)
        image.fill(0)
        painter = QPainter(image)
        scene.render(painter, image.rect(), scene.content_rect())
        painter.end()
        return image

    scene = CanvasScene(theme.DARK)
    plan = sample_plan("starter")
    scene.show_plan(plan)
    cold = picture(scene)
    disk = plan.hosts[0].disks[0].id
    scene.show_loads(Loads(**{what: {disk: 0.97}}))
    hot = picture(scene)
    assert cold != hot
    rect = scene.item_of(disk).rect_in_scene()
    area = scene.content_rect()
    scale = min(900 / area.width(), 500 / area.height())
    for x in range(0, 900, 3):
        for y in range(0, 500, 3):
            if cold.pixel(x, y) != hot.pixel(x, y):
                at = QPointF(x / scale + area.x(), y / scale + area.y())
                assert rect.adjusted(-3, -3, 3, 3).contains(at)


@pytest.mark.parametrize(("way", "said"), [("disk", "12 %"), ("space", "34 %")])
def test_a_disk_says_what_it_is_coloured_by(qapp, monkeypatch, way: str, said: str) -> None:
    """Its name stands beside the share of that: how full it is, where that gives the colour."""
    from PySide6.QtGui import QImage, QPainter

    from ndbplan.describe.colouring import Colouring, Shade, Tone
    from ndbplan.desktop.look import paint

    scene = CanvasScene(theme.DARK)
    plan = sample_plan("starter")
    scene.show_plan(plan)
    disk = plan.hosts[0].disks[0]
    scene.show_loads(Loads(disks={disk.id: 0.12}, space={disk.id: 0.34}))
    scene.show_colouring(Colouring(way, "", {disk.id: Shade(Tone.LOW, said, "")}))
    told: list[str] = []
    fitting = paint.fitting
    monkeypatch.setattr(
        paint,
        "fitting",
        lambda painter, rect, texts, *more: (told.extend(texts), fitting(painter, rect, texts, *more)),
    )
    image = QImage(900, 500, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    scene.render(painter, image.rect(), scene.content_rect())
    painter.end()
    assert f"{disk.name} · {said}" in told


@pytest.mark.parametrize("zoom", [0.42, 0.45, 0.7, 1.0])
@pytest.mark.parametrize("share", [0.05, 0.52, 1.02, 12.5])
def test_a_host_says_of_what_each_of_its_shares_is(hands_on, drawn, zoom: float, share: float) -> None:
    hands = hands_on(zoom=zoom)
    host = hands.view.document.plan.hosts[0].id
    drawn.clear()
    hands.view.show_loads(Loads(cpu={host: share}, memory={host: share}))
    hands.view.grab()
    said = percent(share)
    if said in drawn:
        assert {"CPU", "RAM"} <= {*drawn}
    else:
        assert {f"CPU {said}", f"RAM {said}"} <= {*drawn}


def test_an_edit_of_144_hosts_touches_one_card(qapp, monkeypatch) -> None:
    plan = sample_plan("telecom-144")
    scene = CanvasScene(theme.DARK)
    scene.show_plan(plan)
    shown: list[str] = []
    display = HostItem.display

    def counted(item: HostItem, card, rect) -> None:
        shown.append(card.host.id)
        display(item, card, rect)

    monkeypatch.setattr(HostItem, "display", counted)
    host = plan.hosts[70]
    scene.show_plan(edits.update(plan, host.id, cores=17))
    assert shown == [host.id]


def test_the_ribbon_of_hosts_one_below_the_other_crosses_neither_names_nor_disks(qapp) -> None:
    theme.load_fonts()
    plan = sample_plan("starter")
    nodes = [node.host_id for node in plan.data_nodes]
    rack = plan.host(nodes[0]).location_id
    others = [h.id for h in plan.hosts if h.location_id == rack and h.id not in nodes]
    plan = arrange.put_into_location(plan, nodes, rack, others[0])
    scene = CanvasScene(theme.DARK)
    scene.show_plan(plan)
    line = QPainterPathStroker().createStroke(scene._ribbons[0]._path)
    for host in nodes:
        rect = scene.item_of(host).rect_in_scene()
        name = QRectF(rect.left() + 13, rect.top() + 8, rect.width() - 26, 38)
        assert not line.intersects(name)
        for disk in plan.host(host).disks:
            assert not line.intersects(scene.item_of(disk.id).rect_in_scene())


def test_a_long_name_of_a_disk_is_cut_and_not_left_out(qapp) -> None:
    """Only `0 %` was left of it."""
    whole, cut, figure = named("Größte-NVMe-Platte-im-ganzen-Hause", 0.25, 12, 120.0)
    assert whole == "Größte-NVMe-Platte-im-ganzen-Hause · 25 %"
    assert cut.startswith("Größte")
    assert cut.endswith("… · 25 %")
    assert text_width(cut, 12, 600) <= 120.0
    assert figure == "25 %"
    assert named("nvme0", 0.25, 12, 60.0)[1:] == ("25 %",), "of three tiles beside one another"
