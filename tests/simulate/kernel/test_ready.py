"""When the compiled kernel counts as ready, and who waits for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ndbplan.base.compiled import CompiledCode
from ndbplan.edits import parts as edits
from ndbplan.ndb.keys.column import KeyColumn
from ndbplan.ndb.keys.many import prepare as keyprepare
from ndbplan.ndb.keys.many import text as keytext
from ndbplan.plan.samples import sample_plan
from ndbplan.simulate import prepare
from ndbplan.simulate.kernel import ready as kernel
from ndbplan.simulate.model.node_rows import SimulationError
from ndbplan.simulate.model.workload import estimation_of
from ndbplan.simulate.run import simulate


def test_it_is_ready_after_preparing() -> None:
    kernel.prepare()
    assert kernel.is_prepared()


def test_asking_for_readiness_imports_no_compiler() -> None:
    code = (
        "import sys; from ndbplan.simulate import run; from ndbplan.simulate.kernel import ready;"
        "ready.is_prepared();"
        "assert not {'numba', 'PySide6', 'pyqtgraph'} & set(sys.modules), sys.modules.keys()"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CompiledCode:
    """A machine on which nothing has been compiled yet."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", os.fspath(tmp_path / "compiled"))
    code = CompiledCode("kernel", [])
    monkeypatch.setattr(kernel, "code", lambda: code)
    monkeypatch.setattr(kernel, "_advance", None)
    monkeypatch.setattr(kernel, "_is_known_ready", False)
    return code


def _compiles_slowly(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    """In place of the process that compiles: one that does what the test says."""
    monkeypatch.setattr(
        kernel, "in_a_process", lambda *_: ([sys.executable, "-c", program], dict(os.environ))
    )
    monkeypatch.setattr(kernel, "_LOOK_S", 0.01)


def test_a_run_that_waits_is_told_how_far_it_is(empty: CompiledCode, monkeypatch: pytest.MonkeyPatch) -> None:
    functions = kernel._functions()
    assert functions > 40
    _compiles_slowly(monkeypatch, "import signal; signal.pause()")
    told: list[tuple[float, str]] = []

    def progress(share: float, text: str) -> None:
        told.append((share, text))
        if len(told) <= functions:
            (empty.folder / f"steps._part{len(told)}-1.py311.1.nbc").touch()

    kernel.wait_until_prepared(progress, lambda: len(told) > functions)
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] == 1
    assert told[3][1] == f"Preparing the simulation engine: 3 of {functions} parts…"


def test_who_stops_waiting_ends_the_process_he_started(
    empty: CompiledCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[subprocess.Popen[bytes]] = []
    usual = subprocess.Popen

    def watched(*args: object, **named: object) -> subprocess.Popen[bytes]:
        started.append(usual(*args, **named))
        return started[-1]

    monkeypatch.setattr(subprocess, "Popen", watched)
    _compiles_slowly(monkeypatch, "import signal; signal.pause()")
    kernel.wait_until_prepared(lambda _share, _text: None, lambda: bool(started))
    assert started[0].poll() is not None


def test_waiting_ends_when_the_process_could_not_compile(
    empty: CompiledCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    _compiles_slowly(monkeypatch, "raise SystemExit(1)")
    kernel.wait_until_prepared(lambda _share, _text: None)
    assert not kernel.is_prepared()


def test_nobody_waits_for_what_is_ready(empty: CompiledCode, monkeypatch: pytest.MonkeyPatch) -> None:
    empty.seal(kernel._mark())
    monkeypatch.setattr(kernel, "in_a_process", lambda *_: pytest.fail("nothing is to be compiled"))
    kernel.wait_until_prepared(lambda _share, _text: None)
    assert prepare.main(["--kernel"]) == 0


def test_why_it_is_compiled_anew_is_said(empty: CompiledCode, tmp_path: Path) -> None:
    assert kernel.announcement() == "preparing the simulation (only this first time) …"
    folder = empty.folder
    folder.chmod(0o777)
    again = CompiledCode("kernel", [])
    assert str(folder) in again.refusal
    kernel.code().__dict__.update(again.__dict__)
    assert f"others can write into {folder}" in kernel.announcement()
    assert "anew each time" in kernel.announcement()
    assert "or name a folder of your own in NUMBA_CACHE_DIR" in kernel.announcement()
    assert prepare.main([]) == 1


@pytest.mark.parametrize("kernel_ready", [True, False])
@pytest.mark.parametrize("keys_ready", [True, False])
def test_all_is_compiled_when_kernel_and_keys_are(
    empty: CompiledCode, monkeypatch: pytest.MonkeyPatch, kernel_ready: bool, keys_ready: bool
) -> None:
    keys = CompiledCode("keys", [])
    monkeypatch.setattr(keyprepare, "code", lambda: keys)
    if kernel_ready:
        empty.seal(kernel._mark())
    if keys_ready:
        keyprepare.mark_prepared(keytext.kinds_of([KeyColumn("k", kind) for kind, _, _ in prepare._KEYS]))
    assert prepare.is_complete() == (kernel_ready and keys_ready)


def test_the_usual_keys_need_no_compiler_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    prepare._prepare_keys()
    assert keytext.is_prepared([KeyColumn("a", "varchar", 40), KeyColumn("b", "datetime")])


def test_in_the_background_it_has_low_priority() -> None:
    code = "import os; from ndbplan.simulate import prepare; prepare._yield_to_others(); print(os.nice(0))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == min(19, os.nice(0) + 10)


def test_the_process_uses_these_libraries() -> None:
    command, environment = kernel.in_a_process("--idle")
    assert command[0] == sys.executable
    assert command[-1] == "--idle"
    assert Path(environment["PYTHONPATH"].split(os.pathsep)[0], "ndbplan", "simulate", "prepare.py").is_file()


def test_what_is_refused_is_the_same_whether_or_not_the_kernel_is_ready(
    empty: CompiledCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several faults the plan alone decides which is told, and nothing is announced before."""
    plan = sample_plan("starter")
    bare = edits.remove(plan, [disk.id for host in plan.hosts for disk in host.disks])
    told = []
    lines = []
    for ready in (True, False):
        monkeypatch.setattr(kernel, "is_prepared", lambda ready=ready: ready)
        with kernel.told_before(lambda: told.append(1)), pytest.raises(SimulationError) as refused:
            simulate(estimation_of(bare), duration_s=1e9, step_s=0.001)
        lines.append(refused.value.line)
    assert lines[0] == lines[1]
    assert told == []


def test_a_run_that_has_to_compile_says_so_once_it_comes_to_that(
    empty: CompiledCode, monkeypatch: pytest.MonkeyPatch
) -> None:
    class SaidError(Exception):
        pass

    def say() -> None:
        raise SaidError

    monkeypatch.setattr(kernel, "is_prepared", lambda: False)
    with kernel.told_before(say), pytest.raises(SaidError):
        simulate(estimation_of(sample_plan("starter")), duration_s=5)
