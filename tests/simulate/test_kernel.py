"""Where the compiled kernel is kept and when it counts as ready."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ndbplan.simulate import kernel


def test_it_is_ready_after_preparing() -> None:
    kernel.prepare()
    assert kernel.is_prepared()


def test_the_users_cache_folder_is_used(own_folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    kernel.cache_dir.cache_clear()
    try:
        assert kernel.cache_dir() == own_folders / "cache" / "ndbplan" / "compiled"
    finally:
        kernel.cache_dir.cache_clear()


def test_asking_for_readiness_imports_no_compiler() -> None:
    code = (
        "import sys; from ndbplan.simulate import kernel, run; kernel.is_prepared();"
        "assert not {'numba', 'PySide6', 'pyqtgraph'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
