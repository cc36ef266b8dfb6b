"""Every place of the program where one number, comparison or sign can be changed, and the change.

    for mutant in planted(source, "ndb/rows.py"): print(mutant.what, mutant.applied(source))

A mutant changes one token of code or one value of `resources/ndb/constants.json`. Texts of messages, types
and decorators are left alone: nothing that is computed hangs on them. A comparison moves by its limit alone
(`<` to `<=`), with a fraction it is turned round.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

_COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="),
}  # fmt: skip
_SIGNS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "/"), ast.Div: ("/", "*"),
    ast.FloorDiv: ("//", "*"), ast.Mod: ("%", "*"),
}  # fmt: skip
_WORDS = {"min": "max", "max": "min", "any": "all", "all": "any", "floor": "ceil", "ceil": "floor"}
_TURNED: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("<", ">="), ast.LtE: ("<=", ">"), ast.Gt: (">", "<="), ast.GtE: (">=", "<"),
}  # fmt: skip
"""Instead, where a fraction stands on one side: nothing that is worked out lies on 0.5 exactly, and where it
is 0.0 both ways mostly say the same (nothing is shared out, none of it is refused)."""
_FACTOR = 1.1
_ROUNDING = 1e-5
"""A smaller number that is added or compared is a tolerance for rounding: a tenth of it shows nowhere."""


@dataclass(frozen=True)
class Mutant:
    """One change: where it is, what it replaces by what."""

    path: str
    """Below app/ndbplan, or resources/…"""
    line: int
    begin: int
    """Characters of the file before it."""
    before: str
    after: str
    text: str
    """The line as it is, without its indent."""
    within: str = ""
    """The function, or the value of the module, that it is a part of."""
    is_in_function: bool = True

    @property
    def package(self) -> str:
        """The package it belongs to."""
        return self.path.split("/")[0]

    @property
    def what(self) -> str:
        """The change in one line."""
        return f"{self.path}:{self.line}: {self.before} -> {self.after}    {self.text[:90]}"

    def applied(self, source: str) -> str:
        """The file with the change."""
        assert source[self.begin : self.begin + len(self.before)] == self.before
        return source[: self.begin] + self.after + source[self.begin + len(self.before) :]


class _Places(ast.NodeVisitor):
    def __init__(self, source: str, path: str) -> None:
        self.source, self.path = source, path
        self.lines = source.splitlines()
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Mutant] = []
        self.within, self.is_in_function = "", False

    def offset(self, line: int, column_bytes: int) -> int:
        """Characters of the file before a place that the parser gives in bytes of a line."""
        text = self.lines[line - 1]
        if not text.isascii():
            column_bytes = len(text.encode()[:column_bytes].decode())
        return self.starts[line - 1] + column_bytes

    def plant(self, line: int, begin: int, before: str, after: str) -> None:
        if self.source[begin : begin + len(before)] == before:
            text = self.lines[line - 1].strip()
            where = (self.within, self.is_in_function)
            self.found.append(Mutant(self.path, line, begin, before, after, text, *where))

    def between(self, left: ast.expr, right: ast.expr, before: str, after: str) -> None:
        assert left.end_lineno is not None
        assert left.end_col_offset is not None
        begin = self.offset(left.end_lineno, left.end_col_offset)
        end = self.offset(right.lineno, right.col_offset)
        gap = re.sub(r"#[^\n]*", lambda m: " " * len(m[0]), self.source[begin:end])
        at = gap.find(before)
        if at >= 0:
            line = left.end_lineno + gap[:at].count("\n")
            self.plant(line, begin + at, before, after)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Texts for people."""

    def visit_Assign(self, node: ast.Assign) -> None:
        if not self.is_in_function and isinstance(node.targets[0], ast.Name):
            self.within = node.targets[0].id
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if not self.is_in_function and isinstance(node.target, ast.Name):
            self.within = node.target.id
        if node.value is not None:
            self.visit(node.value)

    def visit_arg(self, node: ast.arg) -> None:
        """A name and its type."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        before = self.within, self.is_in_function
        self.within, self.is_in_function = node.name, True
        for statement in node.body:
            self.visit(statement)
        self.within, self.is_in_function = before

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            self.visit(statement)

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        value = node.value
        begin = self.offset(node.lineno, node.col_offset)
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        before = self.source[begin : self.offset(node.end_lineno, node.end_col_offset)]
        if isinstance(value, bool):
            self.plant(node.lineno, begin, before, str(not value))
        elif isinstance(value, int) and re.fullmatch(r"[\d_]+", before):
            self.plant(node.lineno, begin, before, str(value + 1))
        elif isinstance(value, float):
            self.plant(node.lineno, begin, before, repr(value * _FACTOR if value else 1.0))

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if type(operator) in _TURNED and (_is_fraction(left) or _is_fraction(right)):
                self.between(left, right, *_TURNED[type(operator)])
            elif type(operator) in _COMPARISONS:
                self.between(left, right, *_COMPARISONS[type(operator)])
            left = right
        self.visit_all_but_rounding(node.left, *node.comparators)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        sides = (node.left, node.right)
        is_text = any(isinstance(getattr(side, "value", None), str) for side in sides)
        is_text |= any(isinstance(side, ast.JoinedStr) for side in sides)
        if type(node.op) in _SIGNS and not is_text:
            self.between(node.left, node.right, *_SIGNS[type(node.op)])
        if isinstance(node.op, ast.Add | ast.Sub):
            self.visit_all_but_rounding(*sides)
        else:
            self.generic_visit(node)

    def visit_all_but_rounding(self, *nodes: ast.expr) -> None:
        for node in nodes:
            if not (_is_fraction(node) and abs(node.value) < _ROUNDING and node.value):
                self.visit(node)

    def visit_keyword(self, node: ast.keyword) -> None:
        # That lists are equally long is for the programmer to see, not for the program to find.
        if node.arg != "strict":
            self.visit(node.value)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        word, other = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in zip(node.values, node.values[1:], strict=False):
            self.between(left, right, f" {word} ", f" {other} ")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            self.plant(node.lineno, self.offset(node.lineno, node.col_offset), "not ", "")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        name = function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")
        if name in _WORDS and function.end_col_offset is not None and function.end_lineno is not None:
            begin = self.offset(function.end_lineno, function.end_col_offset) - len(name)
            self.plant(function.end_lineno, begin, name, _WORDS[name])
        self.visit(function)
        for argument in node.args:
            if name in ("min", "max"):
                self.visit_all_but_rounding(argument)
            else:
                self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword)


def _is_fraction(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, float)


def planted(source: str, path: str) -> list[Mutant]:
    """Every mutant of a file of Python, in the order of its text."""
    places = _Places(source, path)
    places.visit(ast.parse(source))
    return sorted(places.found, key=lambda mutant: mutant.begin)


def planted_in_constants(source: str, path: str) -> Iterator[Mutant]:
    """Every value of the file of constants, larger by a tenth; the text is the name of the constant."""
    for match in re.finditer(r'"name": *"(\w+)",\s*"value": *(-?[\d.eE+-]+)', source):
        value = json.loads(match[2])
        line = source.count("\n", 0, match.start(2)) + 1
        after = json.dumps(value * _FACTOR if value else 1.0)
        yield Mutant(path, line, match.start(2), match[2], after, match[1], match[1], False)
