"""What is remembered, and that nothing breaks when it cannot be."""

from __future__ import annotations

from ndbplan.desktop.document.preferences import APPEARANCE, Preferences


def test_values_and_recent_files_survive(tmp_path) -> None:
    first = Preferences(tmp_path / "p" / "preferences.json")
    first.put(APPEARANCE, "light")
    files = [tmp_path / f"{i}.ndbplan" for i in range(12)]
    for path in files:
        path.write_text("")
        first.add_recent(path)
    again = Preferences(tmp_path / "p" / "preferences.json")
    assert again.get(APPEARANCE) == "light"
    assert again.recent == files[:1:-1]
    again.add_recent(files[5])
    assert again.recent[0] == files[5]
    files[5].unlink()
    assert files[5] not in again.recent


def test_a_broken_or_unwritable_file_is_like_none(tmp_path) -> None:
    path = tmp_path / "preferences.json"
    for text in ("{", "[1]", '{"appearance": 7, "recent": "x"}', '{"appearance": "neon"}'):
        path.write_text(text)
        found = Preferences(path)
        assert found.get(APPEARANCE) == "system"
        assert found.recent == []
    (tmp_path / "file").write_text("")
    nowhere = Preferences(tmp_path / "file" / "preferences.json")
    nowhere.put(APPEARANCE, "dark")
    assert nowhere.get(APPEARANCE) == "dark"
