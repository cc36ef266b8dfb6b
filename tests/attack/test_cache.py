"""Somebody else on the machine plants code where the program keeps what it compiles: it is never run.

What is planted is what numba would unpickle: an index whose loading leaves a mark, with checksums that fit.
"""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from ndbplan.base.compiled import key_of

SOURCE = """
from ndbplan.base.compiled import compiled

@compiled
def twice(x):
    return 2 * x
"""
PROGRAM = """
import sys
from pathlib import Path
from ndbplan.base.compiled import CompiledCode
source = Path(sys.argv[1])
sys.path.insert(0, str(source.parent))
import doubling
code = CompiledCode("attacked", [source])
with code.loading("done"):
    assert doubling.twice(21) == 42
print(code.refusal)
"""
NOBODY = 65534


class _Bomb:
    """Runs a command when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, (f"touch {self.mark}",)


def _plant(folder: Path, mark: Path) -> None:
    """Every file that numba would load has the bomb in it, and the checksums say so."""
    bomb = pickle.dumps(_Bomb(mark))
    indexes = list(folder.rglob("*.nbi"))
    assert indexes, "the program has compiled nothing that could be exchanged"
    sums = json.loads((folder / "checksums.json").read_text())
    for path in (*indexes, *folder.rglob("*.nbc")):
        path.write_bytes(bomb)
        look = path.lstat()
        name = path.relative_to(folder).as_posix()
        sums[name] = [hashlib.sha256(path.read_bytes()).hexdigest(), look.st_size, look.st_mtime_ns]
    (folder / "checksums.json").write_text(json.dumps(sums))


class _Attacked(NamedTuple):
    """The folder of the code, the mark of the bomb, and a start of the program."""

    folder: Path
    mark: Path
    run: Callable[[], str]


def _run(source: Path, cache: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(source)],
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    return done.stdout.strip() if done.returncode == 0 else done.stderr


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A source and the cache with what was compiled of it."""
    source = tmp_path_factory.mktemp("code") / "doubling.py"
    source.write_text(SOURCE)
    cache = tmp_path_factory.mktemp("cache")
    assert _run(source, cache) == ""
    return source, cache


@pytest.fixture
def attacked(compiled: tuple[Path, Path], tmp_path: Path) -> _Attacked:
    """A cache in which somebody has planted bombs."""
    source, cache = compiled
    shutil.copytree(cache, tmp_path / "cache")
    folder, mark = tmp_path / "cache" / key_of("attacked", [source]), tmp_path / "mark"
    _plant(folder, mark)
    return _Attacked(folder, mark, partial(_run, source, tmp_path / "cache"))


def test_the_bomb_goes_off_where_nothing_is_wrong(attacked: _Attacked) -> None:
    """In the user's own private folder with fitting checksums: otherwise the tests below show nothing."""
    attacked.run()
    assert attacked.mark.exists()


def test_a_folder_that_others_can_write_into_is_not_read(attacked: _Attacked) -> None:
    attacked.folder.chmod(0o770)
    assert "others can write into" in attacked.run()
    assert not attacked.mark.exists()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to another user")
def test_a_folder_of_another_user_is_not_read(attacked: _Attacked) -> None:
    os.chown(attacked.folder, NOBODY, NOBODY)
    assert "belongs to another user" in attacked.run()
    assert not attacked.mark.exists()


@pytest.mark.parametrize("planted", ["group", "content"])
def test_a_planted_file_in_the_users_folder_is_not_loaded(attacked: _Attacked, planted: str) -> None:
    for path in (*attacked.folder.rglob("*.nbi"), *attacked.folder.rglob("*.nbc")):
        if planted == "group":
            path.chmod(0o660)
        else:
            path.write_bytes(path.read_bytes() + b"x")
    assert attacked.run() == ""
    assert not attacked.mark.exists()


@pytest.mark.parametrize("kind", ["pipe", "folder", "link"])
def test_what_is_no_file_is_taken_away_and_the_code_is_made_anew(
    compiled: tuple[Path, Path], tmp_path: Path, kind: str
) -> None:
    """In the place of any file that the folder has: nothing is waited for, and no start fails."""
    source, cache = compiled
    shutil.copytree(cache, tmp_path / "cache")
    folder = tmp_path / "cache" / key_of("attacked", [source])
    names = [path for path in folder.rglob("*") if path.is_file()]
    assert {path.suffix for path in names} >= {".nbi", ".nbc", ".json", ".ready"}
    for path in names:
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "link":
            path.symlink_to(tmp_path / "elsewhere")
        else:
            path.mkdir()
            (path / "inside").touch()
    assert _run(source, tmp_path / "cache") == ""
    assert all(path.is_file() and not path.is_symlink() for path in names)
    assert not (tmp_path / "elsewhere").exists()
