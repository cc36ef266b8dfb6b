"""What the system opens, or does not."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from ndbplan.desktop.widgets import open_outside as module
from ndbplan.desktop.widgets.message_bar import MessageBar
from ndbplan.desktop.widgets.open_outside import open_outside

_REFUSED = "Saved it; no program of this machine opened it: open it by hand"


@pytest.fixture
def messages(qtbot: QtBot) -> MessageBar:
    window = QWidget()
    qtbot.addWidget(window)
    return MessageBar(window, QWidget(window))


@pytest.mark.parametrize(("code", "level", "said"), [(0, "done", "Saved it"), (4, "warning", _REFUSED)])
def test_what_the_opener_says_is_told(
    qtbot: QtBot, messages: MessageBar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    code: int, level: str, said: str,
) -> None:  # fmt: skip
    opener, asked = tmp_path / "xdg-open", tmp_path / "asked"
    opener.write_text(f"#!/bin/sh\nprintf %s \"$1\" >'{asked}'\nexit {code}\n")
    opener.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    file = tmp_path / "a b.html"
    open_outside(file, messages, "Saved it")
    qtbot.waitUntil(lambda: not module._asked, timeout=10_000)
    assert asked.read_text() == str(file)
    assert (messages.level, messages.text) == (level, said)


def test_where_qt_opens_its_refusal_is_told(
    messages: MessageBar, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: url != QUrl.fromLocalFile(str(tmp_path)))
    open_outside(tmp_path, messages, "Saved it")
    assert (messages.level, messages.text) == ("warning", _REFUSED)
