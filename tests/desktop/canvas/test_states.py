"""What runs is seen: starts, slow disks, full logs, groups that lost members, and what a pointer is told."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QHelpEvent
from PySide6.QtWidgets import QApplication, QToolTip

from ndbplan.describe.estimated import carried_at, loads_at, loads_of
from ndbplan.describe.overlay import NO_LOADS, Loads
from ndbplan.desktop.canvas.tips import tip
from ndbplan.desktop.look import paint
from ndbplan.edits import events
from ndbplan.estimate.times.copy_links import SlowLink
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.moment import Moment, Starting, moment_of
from ndbplan.simulate.run import simulate
from ndbplan.simulate.stop import LinkTime

PLAN = sample_plan("starter")
DISK = PLAN.hosts[0].disks[0].id
ENDS = frozenset({"host-a1"}), frozenset({"host-b1"})


def _link(share: float) -> Loads:
    return NO_LOADS._replace(links=(LinkTime(0, SlowLink(*ENDS, share, ""), 0.0),))


@pytest.mark.parametrize(
    "loads",
    [
        NO_LOADS._replace(starting={"ndb1": Starting("execute redo log", 4, 8)}, down={"ndb1": True}),
        NO_LOADS._replace(redo_logs={"ndb1": 1.0}),
        NO_LOADS._replace(slow={DISK: 0.25}),
        NO_LOADS._replace(slow={DISK: 0.0}),
        NO_LOADS._replace(down={DISK: True}),
        _link(0.1),
        _link(0.0),
    ],
)
def test_each_state_is_painted_and_goes_again(hands, loads: Loads) -> None:
    hands.view.show_loads(NO_LOADS)
    plain = hands.view.grab().toImage()
    hands.view.show_loads(loads)
    assert hands.view.grab().toImage() != plain
    hands.view.show_loads(NO_LOADS)
    assert hands.view.grab().toImage() == plain


@pytest.mark.parametrize("zoom", [0.41, 0.3, 0.2])
def test_what_is_painted_bit_by_bit_is_as_painted_anew(hands, zoom: float) -> None:
    hands.view.set_zoom(zoom)
    disks = [disk.id for host in PLAN.hosts for disk in host.disks]
    for step in range(4):
        hands.view.show_loads(
            NO_LOADS._replace(
                disks={disk: (0.13 * (step + n)) % 1.2 for n, disk in enumerate(disks)},
                cpu={"host-a1": 0.2 * step},
                redo_logs={"ndb1": 0.3 * step},
                down={"ndb2": True} if step == 2 else {},
                problems={disks[step]: "error"},
                links=_link(0.1 * step).links,
            )
        )
        seen = hands.view.grab().toImage()
        for item in hands.scene.items():
            item.update()
        assert hands.view.grab().toImage() == seen


def test_a_link_that_carries_less_says_so(hands) -> None:
    (ribbon,) = hands.scene._ribbons.values()
    hands.view.show_loads(_link(0.1))
    assert ribbon.text == "Group 0: 10 %"
    assert "link at 10 %" in tip(hands.scene.item_of("host-b1"))
    assert "link" not in tip(hands.scene.item_of("app-b1"))
    hands.view.show_loads(_link(0.0))
    assert ribbon.text == "Group 0: cut"
    hands.view.show_loads(NO_LOADS)
    assert ribbon.text == "Group 0"


@pytest.mark.parametrize("zoom", [1.0, 0.7, 0.47, 0.43, 0.41, 0.3, 0.265, 0.2, 0.12, 0.06])
@pytest.mark.parametrize(
    "loads",
    [
        NO_LOADS._replace(
            cpu={PLAN.hosts[0].id: 0.4}, memory={PLAN.hosts[0].id: 0.8}, disks={DISK: 0.3}, space={DISK: 0.9}
        ),
        NO_LOADS._replace(slow={DISK: 0.25}, down={"ndb1": True, "rack-b": True}),
    ],
)
def test_no_text_is_painted_that_is_too_small_to_read(
    hands, monkeypatch: pytest.MonkeyPatch, zoom: float, loads: Loads
) -> None:
    hands.view.set_zoom(zoom)
    hands.view.show_loads(loads)
    sizes: list[int] = []
    real = paint.font
    monkeypatch.setattr(paint, "font", lambda size, weight: sizes.append(size) or real(size, weight))
    hands.view.grab()
    assert [size for size in sizes if size * zoom < 8.99] == []
    assert zoom < 0.1 or sizes


def test_a_group_says_how_many_of_its_members_run(hands) -> None:
    (ribbon,) = hands.scene._ribbons.values()
    assert ribbon.text == "Group 0"
    hands.view.show_loads(NO_LOADS._replace(down={"ndb1": True}))
    assert ribbon.text == "Group 0: 1 of 2"
    hands.view.show_loads(NO_LOADS._replace(down={"ndb1": True, "ndb2": True}))
    assert ribbon.text == "Group 0: 0 of 2"
    hands.view.show_loads(NO_LOADS)
    assert ribbon.text == "Group 0"


def test_how_far_a_reorganisation_is_stands_over_the_canvas(hands) -> None:
    hands.view.show_loads(NO_LOADS._replace(reorganised=0.42))
    assert hands.view.banner.isVisible()
    assert "42 %" in hands.view.banner.text()
    hands.view.show_loads(NO_LOADS._replace(reorganised=0.42, stopped="cluster stopped"))
    assert "stopped" in hands.view.banner.text()
    hands.view.show_loads(NO_LOADS)
    assert not hands.view.banner.isVisible()


def test_the_moment_of_a_run_reaches_the_canvas(hands) -> None:
    plan = events.killed(PLAN, PLAN.workloads[0].id, ["host-a1"], 50.0)
    moment = moment_of(simulate(estimation_of(plan, plan.workloads[0].id), duration_s=120.0), 100.0)
    loads = loads_at(moment, plan, NO_LOADS)
    assert {"ndb1", "host-a1", DISK} <= loads.down.keys(), "its disks are down with a host"
    assert "ndb2" not in loads.down


def test_processors_and_network_do_at_a_moment_what_is_carried_then() -> None:
    """They stood at what the most of the workload would take all through a run, even at `CPU 102 %`."""
    sale = PLAN.workloads[1]
    now = estimation_of(PLAN, sale.id)
    result = simulate(now, duration_s=900.0)
    at_rest = loads_of(PLAN, now.work_out(), ())
    assert max(at_rest.cpu.values()) > 1.0
    moments = [moment_of(result, at_s) for at_s in (0.0, 300.0, 890.0)]
    seen = [loads_at(one, PLAN, at_rest, carried_at(one, sale)) for one in moments]
    for object_id in ("app-a1", "host-a1"):
        begin, busy, end = (loads.cpu[object_id] for loads in seen)
        assert begin < 0.5 * busy
        assert end < 0.5 * busy
        assert busy <= 1.0
    (name, _), *_ = at_rest.network.items()
    assert seen[0].network[name] < 0.5 * seen[1].network[name]
    assert max(loads_at(moments[1], PLAN, at_rest).cpu.values()) <= 1.0


def test_a_moment_names_nodes_by_their_numbers(hands) -> None:
    start = Starting("execute redo log", 4, 8)
    loads = loads_at(
        Moment(1.0, redo_log_fill={2: 0.5}, starting={1: start}, disk_speed={DISK: 0.5}), PLAN, NO_LOADS
    )
    assert loads.starting == {"ndb1": start}
    assert loads.redo_logs == {"ndb2": 0.5}
    assert loads.slow == {DISK: 0.5}


def test_the_pointer_is_told_state_and_numbers(hands, qtbot) -> None:
    loads = NO_LOADS._replace(
        starting={"ndb1": Starting("execute redo log", 4, 8)},
        redo_buffers={"ndb2": 0.43},
        redo_logs={"ndb2": 0.2},
        cpu={"host-a1": 0.46, "ndb2": 0.31},
        memory={"host-a1": 0.71, "ndb2": 0.52},
        disks={DISK: 0.95},
        space={DISK: 0.4},
        slow={DISK: 0.25},
        down={"rack-b": True},
    )
    hands.view.show_loads(loads)
    said = {i: tip(hands.scene.item_of(i)) for i in ("ndb1", "ndb2", "host-a1", DISK, "rack-b")}
    assert "starts, phase 4 of 8: execute redo log" in said["ndb1"]
    assert said["ndb2"].splitlines()[1:] == [
        "runs",
        "busiest LDM thread 31 % · DataMemory 52 % full · redo buffer 43 % full · redo log 20 % full",
    ]
    assert "CPU 46 % · memory 71 %" in said["host-a1"]
    assert "at 25 % of its speed · 95 % busy · 40 % full" in said[DISK]
    assert said["rack-b"].endswith("down")
    # By a real request for help, over the node.
    at: QPoint = hands.view.mapFromScene(hands.centre("ndb2"))
    port = hands.view.viewport()
    QApplication.sendEvent(port, QHelpEvent(QHelpEvent.Type.ToolTip, at, port.mapToGlobal(at)))
    qtbot.waitUntil(lambda: "redo buffer 43 %" in QToolTip.text())
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())
