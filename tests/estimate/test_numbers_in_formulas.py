"""Formulas hold no fitted numbers: those are constants with a range and where they come from."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import ndbplan
from parsed import parsed

PACKAGE = Path(ndbplan.__file__).parent
ROOMS = ("estimate", "simulate/model", "checks", "advise", "operations", "configuration", "edits", "ndb")
PLAIN = {-1.0, 0.0, 0.5, 1.0, 2.0, 100.0, 1000.0}
"""Halves, doubles, percents and thousandths say what they are."""
ALLOWED: dict[str, tuple[float, ...]] = {
    "advise/sizing/peaks.py": (10.0,),
    "advise/highest_rate.py": (1e-09,),
    "advise/load_left.py": (0.001,),
    "advise/remedies.py": (1e-06,),
    "checks/fits.py": (1e-09, 1e-06, 10.0),
    "checks/unwise/redo.py": (1e12,),
    "edits/clipboard.py": (40.0,),
    "edits/load_shapes.py": (1e-06,),
    "edits/reading.py": (1e-09, 0.6),
    "estimate/load/partial_checkpoint.py": (0.001,),
    "estimate/load/key_choice.py": (1e-09,),
    "estimate/load/log_full.py": (0.001, 3.0),
    "estimate/storage/rows.py": (4.0,),
    "estimate/storage/spread.py": (1e-09, 0.3175, 0.365),
    "estimate/storage/table_memory.py": (4.0,),
    "estimate/times/backup.py": (0.25,),
    "estimate/times/restart.py": (1e-06,),
    "estimate/times/restart_phases.py": (1e-09,),
    "ndb/nearness.py": (0.001,),
    "simulate/model/loaders.py": (1e-06,),
    "simulate/model/meanwhile.py": (1e-09,),
    "simulate/model/node_rows.py": (1e18,),
    "simulate/model/pools.py": (1000000000000000.0,),
    "simulate/model/scenario.py": (1e-09, 0.001),
}
"""What is left, by file: numbers that keep a division or a comparison from rounding, limits that nothing
reaches, digits of decimal numbers, bytes and words of the product's formats, the medians of order statistics,
and how near a misspelt name is. It can only shrink."""


def _in_functions(code: str) -> Iterator[float]:
    """Every number with a point in a function's body or defaults that is not plain."""
    for function in ast.walk(parsed(code)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            for part in ast.walk(function):
                if isinstance(part, ast.Constant) and isinstance(part.value, float):
                    yield part.value


def _found() -> dict[str, set[float]]:
    files = (path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py")))
    return {
        path.relative_to(PACKAGE).as_posix(): {*_in_functions(path.read_text("utf-8"))} - PLAIN
        for path in files
    }


def test_fitted_numbers_are_constants_with_a_source() -> None:
    new = {
        name: sorted(left)
        for name, numbers in _found().items()
        if (left := numbers - set(ALLOWED.get(name, ())))
    }
    assert not new, "put them into resources/ndb/constants.json: value, low, high, unit, evidence, source"


def test_what_is_allowed_is_still_there() -> None:
    found = _found()
    gone = {
        name: sorted(left)
        for name, numbers in ALLOWED.items()
        if (left := set(numbers) - found.get(name, set()))
    }
    assert not gone, "take them off the list"


def test_a_number_in_a_formula_is_found() -> None:
    code = "LIMIT = 1.25\ndef time(x: float, more: float = 0.7) -> float:\n    return 1.25 * x + more\n"
    assert {*_in_functions(code)} == {0.7, 1.25}
