"""Starting the window."""

from __future__ import annotations

from types import SimpleNamespace

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
    monkeypatch.setattr(start, "_when_shown", lambda window, *_a, **_k: shown.append(window))
    window = start.open_window(qapp, sample="starter")
    qtbot.addWidget(window)
    room, least = window.screen().availableSize(), window.minimumSizeHint()
    assert room.width() < 1440, "the screen of these tests is small"
    assert window.size() == room.expandedTo(least)
    qtbot.waitUntil(lambda: shown == [window])


def test_a_fault_is_written_down_for_its_user_only_and_not_without_end(monkeypatch) -> None:
    """Also a fault behind the last window, and a text that cannot be encoded."""
    hook = start.sys.excepthook
    monkeypatch.setattr(start, "_LONGEST_LOG_BYTES", 3000)
    start._report_faults(SimpleNamespace(open_windows=[]))
    try:
        for _ in range(50):
            start.sys.excepthook(ValueError, ValueError("x" * 200 + "\ud800"), None)
    finally:
        start.sys.excepthook = hook
    log = start._written_down("last")
    assert log.stat().st_mode & 0o777 == 0o600
    assert log.stat().st_size < 3500
    assert log.read_text().endswith("last\n")
