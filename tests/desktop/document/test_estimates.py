"""Estimates: fresh after edits, the newest edit wins, incomplete plans are an answer too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QElapsedTimer, QTimer
from pytestqt.qtbot import QtBot

from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimate, Estimates
from ndbplan.edits import parts as edits
from ndbplan.plan.plan import EMPTY_PLAN
from ndbplan.plan.samples import sample_plan


@pytest.fixture
def document() -> Document:
    return Document(sample_plan("add-nodes"))


@pytest.fixture
def estimates(document: Document, qapp: object) -> Iterator[Estimates]:
    kept = Estimates(document)
    yield kept
    kept.close()


def test_the_first_estimate_comes_by_itself(qtbot: QtBot, estimates: Estimates, document: Document) -> None:
    with qtbot.waitSignal(estimates.updated, timeout=20_000) as blocker:
        pass
    estimate: Estimate = blocker.args[0]
    assert estimate.plan is document.plan
    assert estimate.now is not None
    assert {node.node_id for node in estimate.now.memory.nodes} == {3, 4}
    assert estimates.is_fresh


def test_of_many_quick_edits_only_the_last_is_answered(
    qtbot: QtBot, estimates: Estimates, document: Document
) -> None:
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=20_000)
    seen: list[Estimate] = []
    estimates.updated.connect(seen.append)
    for rows in range(1, 30):
        document.edit("Rows", lambda plan, n=rows: edits.update(plan, "t1", rows=n * 1000))
    assert not estimates.is_fresh
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=20_000)
    assert [estimate.plan for estimate in seen] == [document.plan]
    assert seen[0].now is not None
    assert seen[0].now.memory.tables[0].rows == 29_000


def test_a_plan_without_nodes_is_answered_with_its_problems(
    qtbot: QtBot, estimates: Estimates, document: Document
) -> None:
    document.new(EMPTY_PLAN)
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=20_000)
    assert estimates.latest is not None
    assert estimates.latest.problems


def test_another_workload_is_estimated_anew(qtbot: QtBot, qapp: object) -> None:
    document = Document(sample_plan("redo-overload"))
    estimates = Estimates(document)
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=20_000)
    assert estimates.workload_id == "blobs-5k"
    estimates.choose_workload("blobs-1k")
    assert not estimates.is_fresh
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=20_000)
    assert estimates.latest is not None
    assert estimates.latest.now is not None
    assert estimates.latest.now.workload is document.plan.workload("blobs-1k")
    estimates.close()


def test_the_window_is_never_blocked_for_100_ms(qtbot: QtBot, qapp: object) -> None:
    document = Document(sample_plan("telecom-144"))
    estimates = Estimates(document)
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=30_000)
    worst, clock = [0], QElapsedTimer()
    beat = QTimer()
    beat.setInterval(5)

    def tick() -> None:
        worst[0] = max(worst[0], clock.restart())

    beat.timeout.connect(tick)
    clock.start()
    beat.start()
    standstills = []
    # Other programs may stop this one for a while: an estimate that blocks does so every time.
    for host in document.plan.hosts[:4]:
        worst[0] = 0
        clock.restart()
        document.edit(
            "Memory", lambda plan, h=host: edits.update(plan, h.id, memory_bytes=h.memory_bytes * 2)
        )
        qtbot.waitUntil(lambda: estimates.is_fresh, timeout=20_000)
        standstills.append(worst[0])
    beat.stop()
    estimates.close()
    assert min(standstills) < 100, f"the event loop stood still for {standstills} ms"
