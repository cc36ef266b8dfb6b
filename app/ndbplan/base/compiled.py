"""Where code that the program compiles for itself is kept, so that a machine compiles it once."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache
from pathlib import Path


def wanted_dir() -> Path:
    """Folder that all compiled code belongs in, whether it can be written or not."""
    stated = os.environ.get("NUMBA_CACHE_DIR")
    if stated:
        return Path(stated)
    from platformdirs import user_cache_path

    return user_cache_path("ndbplan") / "compiled"


@cache
def cache_dir() -> Path:
    """Folder of all compiled code: the wanted one, else a temporary one."""
    import tempfile

    folder = wanted_dir()
    if "NUMBA_CACHE_DIR" in os.environ:
        return folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return Path(tempfile.gettempdir()) / f"ndbplan-compiled-{os.getuid() if hasattr(os, 'getuid') else 0}"
    return folder


def folder_of(name: str, sources: Iterable[Path]) -> Path:
    """Folder of the code of these sources, for this machine and its libraries; no other's is loaded."""
    import hashlib
    import platform
    import sys
    from importlib.metadata import version

    source = hashlib.sha256()
    for path in sources:
        source.update(path.read_bytes())
    source.update("|".join((sys.version, version("numba"), version("numpy"), platform.platform())).encode())
    return cache_dir() / f"{name}-{source.hexdigest()[:20]}"


def place_of(module_file: str) -> str:
    """A short name of the folder a module lies in: code compiled from another checkout is not ready here."""
    import hashlib

    return hashlib.sha256(os.fspath(Path(module_file).parent).encode()).hexdigest()[:12]
