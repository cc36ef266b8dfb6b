"""Code that Python writes and compiles anew at every start, compiled once per machine instead.

Dataclasses write their methods as text, and annotations are kept as text; their modules' own code is kept
in `__pycache__`, this is not. While `kept_code` is entered, both find it in one file of the user's cache.
What is not in there is compiled as ever and stored when the block ends; a file that cannot be read or
written only costs time.
"""

from __future__ import annotations

import dataclasses
import marshal
import os
import sys
import typing
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import CodeType
from typing import Any

_NAME = "<string>"
"""File name of such code in a traceback, as without keeping it."""


class KeptCode:
    """Compiled code by its source, read from one file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._codes = _read(path)
        self._is_new = False

    def compile(self, source: str, filename: str, mode: str) -> CodeType:
        """What `compile` answers; `filename` is always <string>."""
        key = (mode, source)
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = compile(source, filename, mode, dont_inherit=True)
            self._is_new = True
        return code

    def run(self, source: str, names: dict[str, Any] | None = None, local: Any = None) -> None:
        """What `exec` does."""
        exec(self.compile(source, _NAME, "exec"), names, local)

    def store(self) -> None:
        """Write the file when something is new."""
        if not self._is_new:
            return
        body = marshal.dumps(self._codes)
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_bytes(zlib.crc32(body).to_bytes(4, "big") + body)
            fresh.replace(self._path)
        self._is_new = False


def _read(path: Path) -> dict[tuple[str, str], CodeType]:
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    # Checked first: marshal may crash on a file that was cut.
    if zlib.crc32(content[4:]).to_bytes(4, "big") != content[:4]:
        return {}
    try:
        codes: dict[tuple[str, str], CodeType] = marshal.loads(content[4:])
    except (EOFError, ValueError, TypeError):
        return {}
    return codes


@contextmanager
def kept_code(folder: Path) -> Iterator[KeptCode]:
    """Let dataclasses and annotations find their code in a file of this folder until the block ends."""
    kept = KeptCode(folder / f"written-{sys.implementation.cache_tag}-{sys.hexversion:x}.code")
    vars(dataclasses)["exec"], vars(typing)["compile"] = kept.run, kept.compile
    try:
        yield kept
    finally:
        del vars(dataclasses)["exec"], vars(typing)["compile"]
        kept.store()
