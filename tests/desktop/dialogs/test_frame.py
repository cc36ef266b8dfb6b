"""What all dialogs share."""

from __future__ import annotations

from typing import Any

from ndbplan.desktop.dialogs.frame import Dialog


def test_a_dialog_is_no_larger_than_its_screen_so_that_its_buttons_are_seen(qtbot: Any) -> None:
    dialog = Dialog("Large", "Do it", None)
    dialog.add_foot(dialog.accept)
    dialog.resize(400, 5000)
    dialog.show()
    qtbot.addWidget(dialog)
    assert dialog.height() < dialog.screen().availableGeometry().height()
    assert dialog.rect().contains(dialog.take.mapTo(dialog, dialog.take.rect().bottomRight()))
