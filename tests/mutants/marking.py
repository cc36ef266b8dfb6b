"""Measures which tests reach which lines: a plugin of pytest that marks every block of the program.

    MUTANTS_REACH=folder python -m pytest -p mutants.marking …

Each block of each function (its body, a branch, what follows a branch) begins with the setting of a byte, put
in when the module is imported; between tests the bytes are read and set back. That costs a part of the time
of a test, where coverage doubles it. Compiled functions are left alone. A test that takes longer than
`LONGEST_S` of the processor is ended and left out: for a mutant it would not be run.
"""

from __future__ import annotations

import ast
import json
import os
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest

FOLDER = "MUTANTS_REACH"
LONGEST_S = float(os.environ.get("MUTANTS_LONGEST_S", "5"))
_ALIKE = 6
"""Of the cases of one test so many are run: of what is asked of a kept plan all."""
_MARK = "_ndbplan_reached"
_COMPILED = {"compiled", "inlined", "machine_code"}
_MOST_BLOCKS = 100_000


class _Marked(ast.NodeTransformer):
    """Puts a mark before every block of every function that is not compiled."""

    def __init__(self, path: str, blocks: list[tuple[str, int]]) -> None:
        self.path, self.blocks = path, blocks
        self.in_function = False

    def mark(self, before: ast.stmt) -> ast.stmt:
        self.blocks.append((self.path, before.lineno))
        made = ast.parse(f"{_MARK}[{len(self.blocks) - 1}] = 1").body[0]
        for node in ast.walk(made):
            ast.copy_location(node, before)
            if isinstance(node, ast.expr | ast.stmt):
                node.end_lineno, node.end_col_offset = before.lineno, before.col_offset
        return made

    def block(self, statements: list[ast.stmt], docstring: bool = False) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        is_new = True
        for number, statement in enumerate(statements):
            is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
            is_first = isinstance(statement, ast.Global | ast.Nonlocal) or (
                docstring and not number and is_text
            )
            if is_new and not is_first:
                made.append(self.mark(statement))
                is_new = False
            made.append(self.visit(statement))
            # What follows a branch is not reached by everyone who came to it.
            is_new |= hasattr(statement, "body") or isinstance(statement, ast.Match)
        return made

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        names = {
            part.id for one in node.decorator_list for part in ast.walk(one) if isinstance(part, ast.Name)
        }
        if names & _COMPILED:
            return node
        was, self.in_function = self.in_function, True
        node.body = self.block(node.body, docstring=True)
        self.in_function = was
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        was, self.in_function = self.in_function, False
        node.body = [self.visit(statement) for statement in node.body]
        self.in_function = was
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not self.in_function:
            return super().generic_visit(node)
        for name, value in ast.iter_fields(node):
            if not isinstance(value, list) or not value:
                continue
            if isinstance(value[0], ast.stmt):
                setattr(node, name, self.block(value))
            elif isinstance(value[0], ast.ExceptHandler | ast.match_case):
                setattr(node, name, [self.visit(one) for one in value])
        return node


def marked(source: str, path: str, blocks: list[tuple[str, int]]) -> ast.Module:
    """The program of a text with its marks; `blocks` grows by their places."""
    made = _Marked(path, blocks).visit(ast.parse(source))
    assert isinstance(made, ast.Module)
    return made


class _Loader(SourceFileLoader):
    blocks: list[tuple[str, int]] = []  # noqa: RUF012 — one list for all modules

    def get_code(self, fullname: str) -> CodeType:
        path = Path(self.path)
        tree = marked(path.read_text(encoding="utf-8"), self.path.partition("/app/ndbplan/")[2], self.blocks)
        return compile(tree, self.path, "exec", dont_inherit=True)

    def exec_module(self, module: ModuleType) -> None:
        """Run it with the bytes that its blocks set."""
        setattr(module, _MARK, _noted.hits)
        super().exec_module(module)


class _Finder(MetaPathFinder):
    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        if not name.startswith("ndbplan"):
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None and "/app/ndbplan/" in spec.origin:
            spec.loader = _Loader(name, spec.origin)
        return spec


class Reached(NamedTuple):
    """What a run of tests showed."""

    tests: dict[str, float]
    """Those that passed and were not too long, by how many seconds each took."""
    lines: dict[str, dict[int, set[str]]]
    """Tests by the first line of each block, by file below app/ndbplan."""


@dataclass
class _Noted:
    hits: bytearray = field(default_factory=lambda: bytearray(_MOST_BLOCKS))
    rows: list[tuple[str, str]] = field(default_factory=list)
    """Test or file of tests, and the phase."""
    reached: list[np.ndarray] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)

    def take(self, name: str, phase: str) -> None:
        """Note what was reached since the last time."""
        found = np.flatnonzero(np.frombuffer(self.hits, dtype=np.uint8))
        self.hits[:] = bytes(_MOST_BLOCKS)
        if len(found):
            self.rows.append((name, phase))
            self.reached.append(found.astype(np.int32))


class _TookTooLong(BaseException):
    pass


_noted = _Noted()
if FOLDER in os.environ:
    assert "ndbplan.base" not in sys.modules
    sys.meta_path.insert(0, _Finder())


def _end(_: int, frame: FrameType | None) -> None:
    """Break a test off: behind the loop of events that it waits in, or that would swallow it and wait on."""
    loops = [one for one in _outwards(frame) if one.f_code.co_filename.endswith("pytestqt/qt_compat.py")]
    waits = loops[-1].f_back if loops else None
    if waits is None:
        raise _TookTooLong
    waits.f_trace = _end_there
    sys.settrace(lambda *_: None)


def _end_there(*_: object) -> None:
    sys.settrace(None)
    raise _TookTooLong


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Some cases of each test, from all over: for a mutant few of them would be run."""
    by_test: dict[str, list[pytest.Item]] = {}
    for item in items:
        by_test.setdefault(item.nodeid.partition("[")[0], []).append(item)
    chosen: set[pytest.Item] = set()
    for test, cases in by_test.items():
        some = 1 if "/golden/" in test else -(-len(cases) // _ALIKE)
        chosen.update(cases[::some])
    items[:] = [item for item in items if item in chosen]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Time a test and end one that takes too long."""
    _noted.take("", "between")
    began = sum(os.times()[:4])
    signal.signal(signal.SIGPROF, _end)
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        return (yield)
    except _TookTooLong:
        _noted.failed.add(item.nodeid)
        return True
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        _noted.take(item.nodeid, "call")
        _noted.seconds[item.nodeid] = sum(os.times()[:4]) - began


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    """What one test of a file sets up the others may have from it."""
    result = yield
    _noted.take(item.nodeid.partition("::")[0], "setup")
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Note what failed or was left out."""
    if not report.passed:
        _noted.failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write what was seen."""
    folder = os.environ.get(FOLDER)
    if folder is None or not _noted.rows:
        return
    name = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    tests = {test: s for test, s in _noted.seconds.items() if test not in _noted.failed}
    told = {"tests": tests, "rows": _noted.rows, "blocks": _Loader.blocks}
    Path(folder, f"{name}.json").write_text(json.dumps(told), encoding="utf-8")
    ends = np.cumsum([len(one) for one in _noted.reached])
    np.savez_compressed(Path(folder, f"{name}.npz"), reached=np.concatenate(_noted.reached), ends=ends)


def read(folder: Path) -> Reached:
    """What the processes of one run have written."""
    tests: dict[str, float] = {}
    lines: dict[str, dict[int, set[str]]] = {}
    for file in sorted(folder.glob("*.json")):
        if not file.with_suffix(".npz").is_file():
            continue
        told = json.loads(file.read_text(encoding="utf-8"))
        tests |= told["tests"]
        of_file: dict[str, set[str]] = {}
        for test in told["tests"]:
            of_file.setdefault(test.partition("::")[0], set()).add(test)
        kept = np.load(file.with_suffix(".npz"))
        parts = np.split(kept["reached"], kept["ends"][:-1])
        of_block: dict[int, set[str]] = {}
        for (name, phase), part in zip(told["rows"], parts, strict=True):
            names = {name} & told["tests"].keys() if phase == "call" else of_file.get(name, set())
            if phase != "between" and names:
                for block in part.tolist():
                    of_block.setdefault(block, set()).update(names)
        for block, (path, line) in enumerate(told["blocks"]):
            lines.setdefault(path, {}).setdefault(line, set()).update(of_block.get(block, ()))
    return Reached(tests, lines)
