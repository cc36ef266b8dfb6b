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
