"""Estimates: fresh after edits, the newest edit wins, incomplete plans are an answer too."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from pytestqt.qtbot import QtBot

from ndbplan.desktop.document import estimates as estimates_module
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.document.estimates import Estimate, Estimates
from ndbplan.desktop.document.tasks import Task
from ndbplan.edits import parts as edits
from ndbplan.plan.plan import EMPTY_PLAN, Plan
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


def test_estimates_are_worked_out_beside_the_gui_thread(
    qtbot: QtBot, qapp: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """How long a turn of the event loop is then, `make bench` says."""
    worked_in = []

    def estimate(plan: Plan, workload_id: str | None, task: Task) -> Estimate:
        worked_in.append(threading.get_ident())
        return real(plan, workload_id, task)

    real = estimates_module.estimate
    monkeypatch.setattr(estimates_module, "estimate", estimate)
    document = Document(sample_plan("starter"))
    estimates = Estimates(document)
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=30_000)
    host = document.plan.hosts[0]
    document.edit("Memory", lambda plan: edits.update(plan, host.id, memory_bytes=host.memory_bytes * 2))
    qtbot.waitUntil(lambda: estimates.is_fresh, timeout=30_000)
    estimates.close()
    assert worked_in
    assert threading.get_ident() not in worked_in
