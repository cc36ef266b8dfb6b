"""Compiled code lies in one private folder, and only what was compiled there is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ndbplan.base import compiled
from ndbplan.base.compiled import CompiledCode, key_of, place_for, processor
from ndbplan.base.files import make_private

SOURCE = """
from ndbplan.base.compiled import compiled

@compiled
def twice(x):
    return 2 * x
"""
FULL = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
"""
PROGRAM = """
import sys
from pathlib import Path
from ndbplan.base.compiled import CompiledCode
source = Path(sys.argv[1])
sys.path.insert(0, str(source.parent))
import doubling
code = CompiledCode("test", [source])
ready = code.is_ready("done")
with code.loading("done"):
    assert doubling.twice(21) == 42
hits = sum(doubling.twice.stats.cache_hits.values())
print(ready, hits, code.folder if not code.refusal else code.refusal)
"""


def _mode(path: Path) -> int:
    return path.lstat().st_mode & 0o777


@pytest.fixture
def wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the user's cache that all compiled code belongs in."""
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    return compiled.wanted_dir()


class TestFolder:
    def test_it_is_the_users_alone_whatever_the_umask(self, own_folders: Path, wanted: Path) -> None:
        before = os.umask(0)
        try:
            place = place_for("kernel-1")
        finally:
            os.umask(before)
        assert place.folder == own_folders / "cache" / "ndbplan" / "compiled" / "kernel-1"
        assert place.refusal == ""
        assert _mode(place.folder) == _mode(place.folder.parent) == 0o700

    def test_one_that_others_can_read_becomes_private(self, tmp_path: Path) -> None:
        (tmp_path / "c").mkdir(mode=0o755)
        assert make_private(tmp_path / "c") == ""
        assert _mode(tmp_path / "c") == 0o700

    @pytest.mark.parametrize("mode", [0o777, 0o770, 0o702, 0o1777])
    def test_one_that_others_can_write_is_refused(self, wanted: Path, mode: int) -> None:
        for folder in (wanted, wanted / "kernel-1"):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(mode)
            place = place_for("kernel-1")
            assert "others can write into" in place.refusal
            assert str(folder) in place.refusal
            assert wanted not in place.folder.parents
            assert _mode(place.folder) == 0o700
            folder.chmod(0o700)
        assert place_for("kernel-1").refusal == ""

    def test_one_of_another_user_is_refused(self, wanted: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        wanted.mkdir(parents=True)
        me = os.getuid()
        monkeypatch.setattr(compiled.os, "getuid", lambda: me + 1)
        place = place_for("kernel-1")
        assert "another user" in place.refusal
        assert wanted not in place.folder.parents

    @pytest.mark.parametrize("level", [0, 1])
    def test_a_link_is_refused_wherever_it_leads(self, wanted: Path, tmp_path: Path, level: int) -> None:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        link = (wanted, wanted / "kernel-1")[level]
        link.parent.mkdir(parents=True, mode=0o700)
        link.symlink_to(tmp_path / "elsewhere")
        assert "symbolic link" in place_for("kernel-1").refusal

    def test_where_nothing_can_be_written_code_lasts_as_long_as_the_process(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").touch()
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
        place = place_for("kernel-1")
        assert "cannot be written" in place.refusal
        assert _mode(place.folder) == 0o700

    def test_a_stated_folder_may_be_shared_but_not_the_codes_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
        tmp_path.chmod(0o1777)
        assert place_for("kernel-1").folder == tmp_path / "kernel-1"
        (tmp_path / "kernel-1").chmod(0o777)
        assert place_for("kernel-1").refusal


def test_other_sources_have_another_folder(tmp_path: Path) -> None:
    source = tmp_path / "steps.py"
    source.write_text("a = 1")
    before = key_of("kernel", [source])
    assert key_of("kernel", [source]) == before
    source.write_text("a = 2")
    assert key_of("kernel", [source]) != before


@pytest.mark.parametrize(
    ("machine", "flags", "level"),
    [
        ("x86_64", "fpu sse4_2 popcnt avx avx2 bmi1 bmi2 f16c fma movbe abm", "x86-64-v3"),
        ("x86_64", "fpu sse4_2 popcnt avx avx2 bmi1 f16c fma movbe abm", "x86-64-v2"),
        ("x86_64", "", "x86-64-v2"),
        ("aarch64", "asimd", "generic"),
    ],
)
def test_code_is_compiled_for_a_level_that_the_processor_has(
    machine: str, flags: str, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import platform

    monkeypatch.delenv("NUMBA_CPU_NAME", raising=False)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    monkeypatch.setattr(Path, "read_text", lambda *_args, **_named: f"model name\t: x\nflags\t\t: {flags}\n")
    assert processor() == level


class TestCode:
    """A small function, compiled and loaded by processes of its own."""

    @pytest.fixture
    def run(self, wanted: Path, tmp_path: Path) -> Callable[[], tuple[bool, int, str]]:
        source = tmp_path / "doubling.py"
        source.write_text(SOURCE)

        def once() -> tuple[bool, int, str]:
            done = subprocess.run(
                [sys.executable, "-c", PROGRAM, str(source)], capture_output=True, text=True, check=True
            )
            ready, hits, where = done.stdout.split(maxsplit=2)
            return ready == "True", int(hits), where.strip()

        return once

    def test_what_was_compiled_once_is_loaded(self, run: Callable[[], tuple[bool, int, str]]) -> None:
        ready, hits, where = run()
        assert (ready, hits) == (False, 0)
        for path in Path(where).rglob("*.nb?"):
            assert _mode(path) == 0o600
        assert run() == (True, 1, where)

    @pytest.mark.parametrize("program", ["import doubling; doubling.twice(21)", PROGRAM])
    def test_no_code_lies_beside_its_source(
        self, run: Callable[[], tuple[bool, int, str]], tmp_path: Path, program: str
    ) -> None:
        """Neither of who imports it first, nor when the private folder cannot be had."""
        environment = {**os.environ, "NUMBA_CACHE_LOCATOR_CLASSES": "InTreeCacheLocator"}
        command = [sys.executable, "-c", program, "doubling.py"]
        subprocess.run(command, env=environment, cwd=tmp_path, check=True)
        assert not list(tmp_path.rglob("*.nb?"))

    def test_a_full_disk_keeps_nobody_from_computing(
        self, run: Callable[[], tuple[bool, int, str]], tmp_path: Path
    ) -> None:
        program = PROGRAM.replace("ready = ", FULL + "ready = ")
        subprocess.run([sys.executable, "-c", program, "doubling.py"], cwd=tmp_path, check=True)
        assert run()[:2] == (False, 0), "what was cut is neither ready nor loaded"

    @pytest.mark.parametrize("suffix", ["nbi", "nbc"])
    def test_a_file_that_was_cut_is_compiled_anew(
        self, run: Callable[[], tuple[bool, int, str]], suffix: str
    ) -> None:
        where = Path(run()[2])
        (path,) = where.rglob(f"*.{suffix}")
        path.write_bytes(path.read_bytes()[:-9])
        assert run() == (False, 0, str(where)), "neither ready nor loaded"
        assert run() == (True, 1, str(where)), "and cured by compiling"

    def test_a_refused_folder_is_neither_read_nor_written(
        self, run: Callable[[], tuple[bool, int, str]]
    ) -> None:
        where = Path(run()[2])
        where.chmod(0o777)
        before = sorted(path.stat().st_mtime_ns for path in where.rglob("*"))
        ready, hits, said = run()
        assert (ready, hits) == (False, 0)
        assert "others can write into" in said
        assert sorted(path.stat().st_mtime_ns for path in where.rglob("*")) == before

    @pytest.mark.parametrize("harm", ["changed", "emptied", "writable", "linked", "removed", "added"])
    def test_what_is_not_as_it_was_compiled_is_not_left_to_be_loaded(
        self, wanted: Path, tmp_path: Path, harm: str
    ) -> None:
        code = _compiled_here()
        path = code.folder / "simulate_1" / "steps.nbc"
        assert code.is_ready("done")
        if harm == "changed":
            path.write_bytes(b"codE")
        elif harm == "emptied":
            path.write_bytes(b"")
        elif harm == "writable":
            path.chmod(0o666)
        elif harm == "linked":
            path.rename(tmp_path / "moved")
            path.symlink_to(tmp_path / "moved")
        elif harm == "removed":
            path.unlink()
        else:
            path = path.with_name("other.nbc")
            path.write_bytes(b"code")
        assert not code.is_ready("done")
        with code.loading():
            assert not path.exists()
            assert not path.is_symlink()
        assert not code.is_ready("done"), "it is compiled before it counts as ready"

    def test_without_checksums_nothing_is_loaded(self, wanted: Path) -> None:
        code = _compiled_here()
        (code.folder / "checksums.json").write_text("[")
        assert not code.is_ready("done")
        with code.loading():
            assert not list(code.folder.rglob("*.nb?"))

    def test_a_folder_that_leads_elsewhere_is_not_followed(self, wanted: Path, tmp_path: Path) -> None:
        code = _compiled_here()
        folder = code.folder / "simulate_1"
        folder.rename(tmp_path / "moved")
        folder.symlink_to(tmp_path / "moved")
        assert not code.is_ready("done")
        with code.loading():
            assert not folder.exists()
        assert (tmp_path / "moved" / "steps.nbc").exists()

    def test_what_is_not_marked_is_not_ready(self, wanted: Path, tmp_path: Path) -> None:
        code = CompiledCode("test", [])
        assert not code.is_ready("a")
        code.seal("a")
        assert code.is_ready("a")
        assert not code.is_ready("a", "b")

    def test_who_ends_waits_for_nobody_who_compiles(self, wanted: Path) -> None:
        """A window that had closed stayed as a process until another one had compiled."""
        first, second = CompiledCode("test", []), CompiledCode("test", [])
        with first._alone():
            second.seal("a", waits=False)
            assert not second.is_ready("a")
        second.seal("a", waits=False)
        assert second.is_ready("a")


def _compiled_here() -> CompiledCode:
    """Code of one function, as numba leaves it."""
    code = CompiledCode("test", [])
    with code.loading("done"):
        (code.folder / "simulate_1").mkdir()
        for suffix in ("nbi", "nbc"):
            (code.folder / "simulate_1" / f"steps.{suffix}").write_bytes(b"code")
    return code


def test_nothing_is_compiled_but_by_what_keeps_it_private() -> None:
    """numba's own decorators, and their cache, are used in one module only."""
    package = Path(compiled.__file__).parents[1]
    texts = {path.name: path.read_text("utf-8") for path in package.rglob("*.py")}
    assert [name for name, text in texts.items() if "njit" in text or "cache=True" in text] == ["compiled.py"]
