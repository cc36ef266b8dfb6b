"""Saving a picture: the kinds of files say what travels inside, and that is what does."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QWidget
from pytestqt.qtbot import QtBot

from ndbplan.base.errors import UserError
from ndbplan.desktop.dialogs.picture_dialog import _KINDS, save_picture
from ndbplan.desktop.document.document import Document
from ndbplan.desktop.file_drops import plan_inside
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.plan.samples import sample_plan


@pytest.mark.parametrize("kind", [kind for kind in _KINDS if "SVG" in kind])
def test_the_plan_goes_along_as_the_kind_of_file_says(
    qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    messages = MessageBar(window, QWidget(window))
    plan = sample_plan("add-nodes")
    plan = plan.replace(hosts=tuple(h.model_copy(update={"purchase_price": 9000.0}) for h in plan.hosts))
    path = tmp_path / "canvas"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args: (str(path), kind))
    save_picture(window, Document(plan), messages)
    saved = path.with_suffix(".svg")
    assert messages.text.startswith(f"Saved {saved}")
    if "without the plan" in kind:
        with pytest.raises(UserError):
            plan_inside(saved)
        return
    found = plan_inside(saved).project.main
    prices = {host.purchase_price for host in found.hosts}
    assert prices == ({None} if "without prices" in kind else {9000.0})
    assert ("without prices" in messages.text) == ("without prices" in kind)
