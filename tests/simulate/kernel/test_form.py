"""The form of the kernel: small functions, each of which says what law it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from ndbplan.simulate.kernel import ready

MOST_LINES = 40
SOURCES = [
    path for path in Path(ready.__file__).parent.glob("*.py") if path.name not in ("__init__.py", "ready.py")
]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_a_law_fits_on_a_page_and_says_what_it_is(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            lines = (node.end_lineno or 0) - node.lineno + 1
            assert lines <= MOST_LINES, f"{node.name} has {lines} lines"
            assert ast.get_docstring(node), node.name


def test_every_law_is_compiled_with_the_kernel() -> None:
    named = {name for name in ready.SOURCES if not name.startswith("../../")}
    rows = Path(ready.__file__).parents[1].joinpath("world").glob("[!_]*.py")
    assert named == {path.name for path in SOURCES} | {f"../world/{path.name}" for path in rows}
