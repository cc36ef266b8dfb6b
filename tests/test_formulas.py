"""Every formula says where it comes from: the product's source, the engine model, measurement, judgement."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import ndbplan
from parsed import parsed

PACKAGE = Path(ndbplan.__file__).parent
ROOMS = ("estimate", "simulate/kernel", "simulate/model")
SOURCE = re.compile(
    r"\bSources?: |Formulas: |engine model \d|\b[A-Z]\w+::\w+|\b\w+\.[ch]pp\b|NDB source|\b[Mm]anual\b"
    r"|\b[Mm]easured\b|\b[Jj]udgement\b|resources/ndb/\w"
)
NO_FORMULAS = {
    "estimate/estimation.py": "asks each part of the estimates once",
    "estimate/grown.py": "takes the plan apart for times/reorganise.py",
    "estimate/loaded.py": "takes the plan apart for load/",
    "estimate/narrowed.py": "leaves out parameters that are not read",
    "estimate/stored.py": "takes the plan apart for storage/",
    "simulate/kernel/ready.py": "gets the compiled kernel ready",
    "simulate/kernel/records.py": "writes down what the laws made",
    "simulate/model/scenario.py": "puts the estimates into arrays",
    "simulate/model/start.py": "makes room for what a run writes",
    "simulate/model/workload.py": "chooses a workload",
}
"""Modules whose functions work nothing out, and what they do instead."""


def without_source(code: str) -> list[str]:
    """Public functions of a module that do not say where their formula comes from."""
    module = parsed(code)
    if SOURCE.search(ast.get_docstring(module) or ""):
        return []
    functions = [node for node in module.body if isinstance(node, ast.FunctionDef) and node.name[0] != "_"]
    return [node.name for node in functions if not SOURCE.search(ast.get_docstring(node) or "")]


def test_every_formula_names_its_source() -> None:
    files = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
    found = {path.relative_to(PACKAGE).as_posix(): without_source(path.read_text("utf-8")) for path in files}
    assert len(found) > 80
    assert {name: left for name, left in found.items() if left and name not in NO_FORMULAS} == {}
    assert [name for name in NO_FORMULAS if not found[name]] == [], "take them off the list"


def test_a_formula_without_a_source_is_found() -> None:
    told = 'def a(x: float) -> float:\n    """Twice, as measured."""\n    return 2 * x\n'
    code = f"{told}def b(x: float) -> float:\n    return 3 * x\ndef _c() -> None:\n    pass\n"
    assert without_source(code) == ["b"]
    assert without_source(f'"""Multiples.\n\nSource: engine model 2.1.\n"""\n{code}') == []
