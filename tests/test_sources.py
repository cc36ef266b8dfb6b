"""Every file with a formula of the product says where its laws come from."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import ndbplan
from parsed import parsed

PACKAGE = Path(ndbplan.__file__).parent
ROOMS = ("ndb", "estimate")
_NAMED = re.compile(
    r"[Ss]ource|[Mm]anual|[Mm]easured|\[assumed\]|\.[ch]pp|\bDb[a-z]+\b|::|RonDB|constants\[|\b[5-9]\.\d+\.\d+\b"
)
"""The word itself, a file, class or function of the product, a release that was looked at, or a constant of
the file of constants, which has its source there."""
_WORKS_OUT = (ast.Mult, ast.Div, ast.FloorDiv, ast.Pow)


def _is_formula(function: ast.FunctionDef) -> bool:
    return any(isinstance(n, ast.BinOp) and isinstance(n.op, _WORKS_OUT) for n in ast.walk(function))


def without_source(code: str) -> list[str]:
    """Public functions of a file that multiply or divide, where nothing in it names a source."""
    if _NAMED.search(code):
        return []
    found = (node for node in ast.walk(parsed(code)) if isinstance(node, ast.FunctionDef))
    return [one.name for one in found if not one.name.startswith("_") and _is_formula(one)]


def test_formulas_name_their_sources() -> None:
    files = [path for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py"))]
    missing = {
        path.relative_to(PACKAGE).as_posix(): names
        for path in files
        if (names := without_source(path.read_text(encoding="utf-8")))
    }
    assert len(files) > 80
    assert not missing, "say in the text at the top of the file where the law was read or measured"


def test_a_formula_without_a_source_is_found() -> None:
    code = '"""Bytes."""\ndef rows(n: int) -> int:\n    """Bytes."""\n    return 4 * n\n'
    assert without_source(code) == ["rows"]
    assert not without_source(code.replace("Bytes.", "Source: the manual.", 1))
