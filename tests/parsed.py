"""The syntax trees of modules: several tests look at every module of the program."""

from __future__ import annotations

import ast
from functools import cache


@cache
def parsed(code: str) -> ast.Module:
    """The tree of a module's text, parsed once; nobody changes it."""
    return ast.parse(code)
