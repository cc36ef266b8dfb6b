"""Steps of a parameter in the inspector: those that *What matters* tries, seen before they are done."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication

from ndbplan.advise.candidate_settings import of_parameters, steps_of
from ndbplan.desktop.inspector.parameter_model import Scope
from ndbplan.desktop.inspector.parameter_steps import ParameterSteps
from ndbplan.desktop.widgets.preview_card import Looker
from ndbplan.edits.parameters import set_parameter
from ndbplan.plan.samples import sample_plan

_WAIT_MS = 240_000


def test_they_are_what_the_list_tries() -> None:
    plan = sample_plan("starter")
    listed = {change.title for change in of_parameters(plan, plan.data_nodes[:1])}
    both = [steps_of(plan, "data_node", "RedoBuffer", node) for node in (None, plan.data_nodes[0])]
    for steps in both:
        assert list(steps) == ["up", "down"]
        assert {change.title for change in steps.values()} <= listed
    assert steps_of(plan, "data_node", "NoOfReplicas") == {}
    assert steps_of(plan, "data_node", "DataDir") == {}


def test_several_nodes_go_together_where_they_have_the_same_value(shown: Any) -> None:
    """No step was offered as soon as two nodes were selected."""
    window = shown("starter", 1366, 768)
    refused: list[str] = []
    steps = ParameterSteps(window.panels.inspector._context, refused.append)
    nodes = window.document.plan.data_nodes
    both = Scope("data_node", tuple(node.id for node in nodes))
    steps.show_of(both, "RedoBuffer")
    alone = steps_of(window.document.plan, "data_node", "RedoBuffer", nodes[0])
    assert steps.links["up"].text() in alone["up"].title
    steps._do("up")
    after = window.document.plan.data_nodes
    (value,) = {node.parameters["RedoBuffer"] for node in after}
    assert f"{value // 2**20}M on 2 data nodes" in window.document.undo_stack.undoText()
    assert refused == [""]
    window.document.edit("One", lambda plan: set_parameter(plan, nodes[0].id, "RedoBuffer", 2**20))
    steps.show_of(both, "RedoBuffer")
    assert steps.isHidden(), "one step of each would be two values"


def test_a_step_is_seen_and_then_done(shown: Any, qtbot: Any) -> None:
    window = shown("starter", 1366, 768)
    steps = ParameterSteps(window.panels.inspector._context, lambda line: None)
    steps.setParent(window)
    steps.show_of(Scope("data_node"), "RedoBuffer")
    before = window.document.plan
    changes = steps_of(before, "data_node", "RedoBuffer")
    assert [steps.links[way].text() for way in ("up", "down")] == [
        changes[way].title.removeprefix("RedoBuffer ") for way in ("up", "down")
    ]
    at = QPointF(2, 2)
    QApplication.sendEvent(steps.links["up"], QEnterEvent(at, at, at))
    looker = window.findChild(Looker)
    looker.look_at_once()
    qtbot.waitUntil(lambda: not window.panels.estimates.previews.is_busy, timeout=_WAIT_MS)
    assert "RedoBuffer" in looker.card.changes.text()
    assert window.document.plan is before
    qtbot.mouseClick(steps.links["up"], Qt.MouseButton.LeftButton)
    assert window.document.undo_stack.undoText() == changes["up"].title
    window.document.undo_stack.undo()
    assert window.document.plan is before
    steps.show_of(None, "")
    assert steps.isHidden()
