"""Whatever hands do on the canvas: it shows the plan, the plan holds, and undo leads back to the first."""

from __future__ import annotations

from functools import partial

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QGuiApplication

from ndbplan.desktop.canvas.input.drops import mime_of
from ndbplan.desktop.canvas.scene import CanvasScene
from ndbplan.desktop.look import theme
from ndbplan.edits.palette import offers
from ndbplan.plan.references import first_broken
from ndbplan.plan.samples import sample_plan

from .test_nested import _nested

KEYS = (
    Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Return,
    Qt.Key.Key_Backspace, Qt.Key.Key_R, Qt.Key.Key_L, Qt.Key.Key_D,
)  # fmt: skip
HELD = (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.AltModifier, Qt.KeyboardModifier.ShiftModifier)


def _shown(scene: CanvasScene) -> dict:
    items = [i for i in scene.items() if hasattr(i, "object_ids")]
    return {(i.kind, i.object_ids): i.rect_in_scene().getRect() for i in items}


@given(st.randoms(use_true_random=False))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_anything_goes(hands_on, choose) -> None:
    # What an earlier example copied must not decide what this one pastes.
    QGuiApplication.clipboard().clear()
    start = choose.choice((_nested, partial(sample_plan, "starter")))()
    hands = hands_on(start)
    editor = hands.view.editor

    def somewhere() -> QPointF:
        items = hands.scene.in_order()
        if items and choose.random() < 0.7:
            return choose.choice(items).rect_in_scene().topLeft() + QPointF(8, 6)
        area = hands.scene.content_rect().adjusted(-60, -60, 60, 60)
        return QPointF(choose.uniform(area.left(), area.right()), choose.uniform(area.top(), area.bottom()))

    for _ in range(30):
        action = choose.randrange(6)
        if action == 0:
            hands.drop(mime_of(choose.choice(offers()).key), somewhere())
        elif action in (1, 2):
            hands.drag(somewhere(), somewhere())
        elif action == 3:
            hands.key(choose.choice(KEYS), choose.choice(HELD))
        elif action == 4:
            choose.choice(
                (editor.delete, editor.duplicate, editor.copy, editor.paste, editor.add_node_group)
            )()
        else:
            choose.choice(
                (hands.document.undo_stack.undo, hands.document.undo_stack.redo, editor.arrange_all)
            )()
        assert first_broken(hands.plan) is None
        assert not hands.view.is_busy
    fresh = CanvasScene(theme.DARK)
    fresh.show_plan(hands.plan)
    assert _shown(hands.scene) == _shown(fresh)
    while hands.document.undo_stack.canUndo():
        hands.document.undo_stack.undo()
    assert hands.plan is start
