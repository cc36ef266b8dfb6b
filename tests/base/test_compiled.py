"""Where compiled code is kept: in the user's cache, apart for every version of its sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from ndbplan.base import compiled


def test_the_users_cache_folder_is_used(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    compiled.cache_dir.cache_clear()
    try:
        assert compiled.cache_dir() == own_folders / "cache" / "ndbplan" / "compiled"
    finally:
        compiled.cache_dir.cache_clear()


def test_other_sources_have_another_folder(tmp_path: Path) -> None:
    source = tmp_path / "steps.py"
    source.write_text("one")
    before = compiled.folder_of("kernel", [source])
    assert compiled.folder_of("kernel", [source]) == before
    source.write_text("two")
    assert compiled.folder_of("kernel", [source]) != before
