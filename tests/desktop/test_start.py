"""Starting the window."""

from __future__ import annotations

import pytest

from ndbplan.desktop import start


def test_without_a_display_it_says_so_and_names_the_way_out(monkeypatch, capsys) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(start.sys, "platform", "linux")
    with pytest.raises(start.NoDisplayError):
        start.run()
    assert start.main([]) == 2
    message = capsys.readouterr().err
    assert message.count("\n") == 1
    assert "ndbplan --help" in message


def test_the_window_is_not_larger_than_the_screen(qtbot, qapp, monkeypatch) -> None:
    shown = []
    monkeypatch.setattr(start, "_when_shown", lambda window, **_k: shown.append(window))
    window = start.open_window(qapp, sample="starter")
    qtbot.addWidget(window)
    room, least = window.screen().availableSize(), window.minimumSizeHint()
    assert room.width() < 1440, "the screen of these tests is small"
    assert window.size() == room.expandedTo(least)
    qtbot.waitUntil(lambda: shown == [window])
