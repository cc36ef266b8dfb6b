"""What is imported when, and that no library is changed on the way."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ndbplan
from ndbplan.plan.file import save
from ndbplan.plan.samples import sample_plan
from parsed import parsed

APP = Path(ndbplan.__file__).parent

_REPORT = """
import json, os, sys
tops = {name.partition(".")[0] for name, module in list(sys.modules.items())
        if "site-packages" in (getattr(module, "__file__", None) or "")}
print("LOADED", json.dumps(sorted(tops)), file=sys.stderr, flush=True)
os._exit(0)
"""
_COMMAND = """
import sys
from ndbplan.cli import main
sys.argv = ["ndbplan", *{arguments!r}]
try:
    main()
except SystemExit as end:
    assert end.code in (0, 1), end.code
"""
_SHOWN = """
from ndbplan.desktop.start import make_application, open_window
app = make_application()
window = open_window(app, sample="add-nodes")
assert window.isVisible()
"""
_COMPLETE = """
while window.build_next():
    app.processEvents()
assert window.panels.analyses.isVisible()
"""

_PLANS = {"annotated_types", "pydantic", "pydantic_core", "typing_extensions", "typing_inspection"}
"""What a plan is made of."""
_COMMANDS = {"click"}
_WINDOW = {"PySide6", "shiboken6", "platformdirs"}
_COMPILER = {"numba", "llvmlite", "yaml", "colorama", "coverage", "cffi", "pycparser", "platformdirs"}
"""numba takes yaml, colorama, coverage and cffi when they are installed."""

_MAY_LOAD = {
    "--version": _COMMANDS,
    "--help": _COMMANDS,
    "samples": _COMMANDS | _PLANS,
    "check PLAN": _COMMANDS | _PLANS | {"numpy"},
    "estimate PLAN": _COMMANDS | _PLANS | {"numpy"},
    "distribute PLAN": _COMMANDS | _PLANS | {"numpy"},
    "simulate PLAN --for 1s": _COMMANDS | _PLANS | {"numpy"} | _COMPILER,
    "render PLAN -o OUT.png": _COMMANDS | _PLANS | {"numpy"} | _WINDOW,
}
"""Packages from outside that a command may import; whatever else it needs is imported where it is used."""


def _packages(program: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", program + _REPORT], capture_output=True, text=True, check=True
    )
    line = next(line for line in done.stderr.splitlines() if line.startswith("LOADED "))
    # Names with an underscore are the venv's own, read at every start of its Python.
    return {name for name in json.loads(line.removeprefix("LOADED ")) if not name.startswith("_")}


@pytest.mark.parametrize("command", _MAY_LOAD)
def test_a_command_loads_only_what_it_needs(command: str, tmp_path: Path) -> None:
    save(sample_plan("add-nodes"), tmp_path / "PLAN")
    arguments = [str(tmp_path / word) if word in ("PLAN", "OUT.png") else word for word in command.split()]
    loaded = _packages(_COMMAND.format(arguments=arguments))
    assert loaded - _MAY_LOAD[command] == set()
    assert "click" in loaded, "the report looks at the right place"


def test_the_window_is_shown_with_qt_and_the_plan_alone() -> None:
    assert _packages(_SHOWN) - (_PLANS | _WINDOW) == set()


def test_the_complete_window_has_loaded_no_charts_compiler_or_parser() -> None:
    assert _packages(_SHOWN + _COMPLETE) - (_PLANS | _WINDOW | {"numpy"}) == set()


_NOT_OURS = {"builtins", "typing", "typing_extensions", "dataclasses", "sys"}
_IN_SYS = {"excepthook", "stdin", "stdout", "stderr"}
"""What `sys` is there to be set."""


def _targets(tree: ast.AST) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign):
            yield from node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign):
            yield node.target
        elif isinstance(node, ast.Delete):
            yield from node.targets
        elif isinstance(node, ast.Call):
            yield from _changed_by_call(node)


def _changed_by_call(call: ast.Call) -> Iterator[ast.expr]:
    """`setattr(x, …)` and `x.update(…)`, `x.setdefault(…)`, `x.pop(…)`, `x.clear()` change x."""
    if isinstance(call.func, ast.Name) and call.func.id in ("setattr", "delattr") and call.args:
        name = call.args[1] if len(call.args) > 1 else None
        known = isinstance(name, ast.Constant) and name.value in _IN_SYS
        if not known:
            yield ast.Attribute(call.args[0], "", ast.Store())
    elif isinstance(call.func, ast.Attribute) and call.func.attr in ("update", "setdefault", "pop", "clear"):
        yield ast.Subscript(call.func.value, ast.Constant(""), ast.Store())


def _names_in(node: ast.expr) -> Iterator[str]:
    """`sys.modules["x"]` and `vars(typing)["x"]` as `sys.modules` and `typing`."""
    if isinstance(node, ast.Tuple | ast.List):
        for part in node.elts:
            yield from _names_in(part)
    elif isinstance(node, ast.Subscript):
        yield ast.unparse(node.value)
        if isinstance(node.value, ast.Call) and node.value.args:
            yield ast.unparse(node.value.args[0])
        if isinstance(node.value, ast.Attribute) and node.value.attr == "__dict__":
            yield ast.unparse(node.value.value)
    elif isinstance(node, ast.Attribute) and not (ast.unparse(node.value) == "sys" and node.attr in _IN_SYS):
        yield ast.unparse(node.value)


def _replaced(source: str) -> list[str]:
    """Modules of Python that the source writes into, by line."""
    tree = parsed(source)
    also = {
        alias.asname: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.asname
    }
    found = []
    for target in _targets(tree):
        for name in _names_in(target):
            meant = also.get(name.partition(".")[0], name.partition(".")[0]), name
            if meant[0] in _NOT_OURS or name == "__builtins__":
                found.append(f"{getattr(target, 'lineno', 0)}: {name}")
    return found


@pytest.mark.parametrize(
    "trick",
    [
        "import builtins\nbuiltins.compile = f",
        "import typing\ntyping.TypedDict, kept = A, B",
        "import typing as t\nt.TypedDict = A",
        "import sys\nsys.modules['pydantic.plugin'] = loader",
        "import sys\nsys.modules.setdefault('pydantic.plugin', loader)",
        "import sys\ndel sys.modules['typing']",
        "import dataclasses\nvars(dataclasses)['exec'] = run",
        "import dataclasses\ndataclasses.__dict__['exec'] = run",
        "import typing\nsetattr(typing, 'TypedDict', A)",
    ],
)
def test_each_way_to_replace_a_part_of_python_is_found(trick: str) -> None:
    assert _replaced(trick)


def test_nothing_in_the_program_replaces_a_part_of_python() -> None:
    found = {
        str(path.relative_to(APP)): lines
        for path in sorted(APP.rglob("*.py"))
        if (lines := _replaced(path.read_text(encoding="utf-8")))
    }
    assert found == {}


_KEEP_NOTHING = (
    "configuration",
    "estimate",
    "simulate",
    "checks",
    "operations",
    "advise",
    "importing",
    "exporting",
)


def _module_caches(source: str) -> list[str]:
    """Functions with parameters whose answers a module would keep for ever, by name."""
    found = []
    if "cache" not in source:
        return []
    for node in ast.walk(parsed(source)):
        if not isinstance(node, ast.FunctionDef):
            continue
        used = {
            ast.unparse(one.func if isinstance(one, ast.Call) else one).rpartition(".")[2]
            for one in node.decorator_list
        }
        given = node.args.args or node.args.posonlyargs or node.args.kwonlyargs
        if given and used & {"cache", "lru_cache"}:
            found.append(node.name)
    return found


def test_answers_are_kept_by_whoever_asks_and_by_no_module() -> None:
    """Modules keep the data files that they read; what depends on a plan lies in `base.kept.Kept`."""
    assert _module_caches("@functools.lru_cache(maxsize=4)\ndef f(x): pass\n@cache\ndef g(): pass") == ["f"]
    found = {
        path.relative_to(APP).as_posix(): names
        for room in _KEEP_NOTHING
        for path in sorted((APP / room).rglob("*.py"))
        if (names := _module_caches(path.read_text(encoding="utf-8")))
    }
    assert found == {}
