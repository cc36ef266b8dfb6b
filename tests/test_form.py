"""The form of the program: files that can be read in one go."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import ndbplan
from ndbplan.base.resources import resources_dir
from parsed import parsed

MOST_LINES = 450


def test_no_file_is_longer_than_what_is_read_in_one_go() -> None:
    package = Path(ndbplan.__file__).parent
    lengths = {
        path.relative_to(package).as_posix(): path.read_text("utf-8").count("\n")
        for path in package.rglob("*.py")
    }
    assert len(lengths) > 400
    assert {name: lines for name, lines in lengths.items() if lines > MOST_LINES} == {}


def test_a_data_file_is_read_in_one_place() -> None:
    package, read = Path(ndbplan.__file__).parent, re.compile(r'"((?:[a-z_]+/)?[\w.-]+\.json)"')
    modules = [path.read_text("utf-8") for path in package.rglob("*.py")]
    named = [name for text in modules if "read_json" in text for name in {*read.findall(text)}]
    files = {path.relative_to(resources_dir()).as_posix() for path in resources_dir().rglob("*.json")}
    assert {name for name in named if named.count(name) > 1} == set()
    assert files == {*named}


def test_a_share_is_written_in_one_form() -> None:
    """`45 %`, as `format_percent` writes it: Python's own form has no space."""
    pythons = re.compile(r"\{[^{}\n]*:[^{}\n]*%\}")
    assert pythons.search('f"{share:.0%} of it"')
    found = [
        path.name
        for path in Path(ndbplan.__file__).parent.rglob("*.py")
        if pythons.search(path.read_text("utf-8"))
    ]
    assert found == []


_BARE = re.compile(r"# (?:noqa|type: ignore)[^#—\n]*$", re.MULTILINE)
"""A suppression without a reason behind it."""


def test_every_suppression_says_why() -> None:
    package = Path(ndbplan.__file__).parent
    bare = {str(path): _BARE.findall(path.read_text("utf-8")) for path in package.rglob("*.py")}
    assert {name: found for name, found in bare.items() if found} == {}


_MADE = re.compile(r"(?:\n\n\ndef |^)(?!__)(\w+)(?:\(|(?:: [^=\n]+)? = )", re.MULTILINE)
"""A function without a decorator, which would register it, or a constant."""


def unused(modules: Iterable[str]) -> list[str]:
    """Functions and constants of modules whose name stands nowhere but where it is made."""
    texts = [*modules]
    words = [Counter(re.findall(r"\w+", text)) for text in texts]
    everywhere = Counter[str]()
    for own in words:
        everywhere.update(own)
    made = [(name, own) for text, own in zip(texts, words, strict=True) for name in _MADE.findall(text)]
    return [name for name, own in made if (own if name.startswith("_") else everywhere)[name] == 1]


def test_nothing_is_kept_that_nobody_uses() -> None:
    package = Path(ndbplan.__file__).parent
    assert unused(path.read_text("utf-8") for path in package.rglob("*.py")) == []


def test_a_function_that_nobody_calls_is_found() -> None:
    functions = "\n\n\ndef f() -> None:\n    pass\n\n\n@kept\ndef g() -> None:\n    pass\n"
    assert unused(["A = 1\nB: int = A\n_C = B\n", "_C = 1\n", functions]) == ["_C", "_C", "f"]


ROOMS = ("ndb", "configuration", "estimate", "operations", "simulate", "checks")
_OF_NUMBERS = (
    ast.Constant, ast.BinOp, ast.UnaryOp, ast.Tuple, ast.Name, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


def _is_of_numbers(value: ast.expr) -> bool:
    parts = [*ast.walk(value)]
    numbers = [part for part in parts if isinstance(part, ast.Constant)]
    return (
        all(isinstance(part, _OF_NUMBERS) for part in parts)
        and all(type(part.value) in (int, float) for part in numbers)
        and bool(numbers)
    )


def unexplained(code: str) -> list[str]:
    """Numbers of a module that no text behind them, or behind those that follow at once, explains."""
    found: list[str] = []
    waiting: list[str] = []
    for node in parsed(code).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and value is not None and _is_of_numbers(value):
            waiting.append(ast.unparse(target))
            continue
        is_text = isinstance(node, ast.Expr) and isinstance(getattr(value, "value", None), str)
        found += [] if is_text else waiting
        waiting = []
    return found + waiting


def test_every_number_of_a_module_says_what_it_is() -> None:
    package = Path(ndbplan.__file__).parent
    files = (path for room in ROOMS for path in sorted((package / room).rglob("*.py")))
    bare = {path.relative_to(package).as_posix(): unexplained(path.read_text("utf-8")) for path in files}
    assert len(bare) > 200
    assert {name: numbers for name, numbers in bare.items() if numbers} == {}


def test_a_number_without_a_word_is_found() -> None:
    assert unexplained('A = 1\nB = 2\n"""Two."""\nC: float = 2 * A\n\ndef f() -> None:\n    pass\n') == ["C"]
    assert unexplained('NAMES = ("a", 1)\nX = (1, 2)\n') == ["X"]
