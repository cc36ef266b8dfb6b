"""Loading PySide without what only its developers and wrong calls need.

PySide compiles the readers and writers of its signatures from an archive at every start, a third of the time
that its import takes, though only `inspect`, `help` and the message of a wrong call read them. Here they are
compiled when something asks for them. A version of PySide that was not tried so is loaded whole.
"""

from __future__ import annotations

import builtins
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_TRIED_WITH = ("6.11.3",)
_WHEN_ASKED_FOR = frozenset(
    f"shibokensupport/signature/{name}.py"
    for name in (
        "errorhandler", "layout", "mapping", "parser", "lib/enum_sig", "lib/pyi_generator", "lib/tool",
    )
)  # fmt: skip
_CALLED_FROM_C = ("update_mapping",)
"""Functions that PySide's C code takes from the module's dictionary, past `__getattr__`."""

_STAND_IN = f"from {__name__} import _stand_in as __stand_in; __stand_in(globals())"

_sources: dict[str, bytes] = {}
_lock = threading.RLock()


def load_pyside() -> None:
    """Import PySide6.QtCore, leaving for later what a running program seldom needs.

    Call it after the modules that need no Qt: PySide also reads the source of every module imported after it
    for its optional features (snake_case, true_property), which this program and its libraries never use.
    """
    if "PySide6.QtCore" in sys.modules:
        return
    with _stand_ins():
        import PySide6.QtCore  # noqa: F401 — loading it is the aim
    feature = sys.modules.get("shibokensupport.feature")
    if hasattr(feature, "_mod_uses_pyside"):
        feature._mod_uses_pyside = lambda _module: False  # type: ignore[union-attr]


@contextmanager
def _stand_ins() -> Iterator[None]:
    compiled = builtins.compile

    def compile_(source: Any, filename: Any, *rest: Any, **options: Any) -> Any:
        if filename in _WHEN_ASKED_FOR and sys.modules["shiboken6"].__version__ in _TRIED_WITH:
            _sources[filename] = source
            source = _STAND_IN
        return compiled(source, filename, *rest, **options)

    builtins.compile = compile_
    try:
        yield
    finally:
        builtins.compile = compiled


def _stand_in(names: dict[str, Any]) -> None:
    """Make a module run its own source the first time one of its names is missing."""
    filename = str(names["__name__"]).replace(".", "/") + ".py"

    def missing(name: str) -> Any:
        with _lock:
            source = _sources.pop(filename, None)
            if source is not None:
                exec(compile(source, filename, "exec"), names)
        try:
            return names[name]
        except KeyError:
            raise AttributeError(f"module {names['__name__']!r} has no attribute {name!r}") from None

    names["__getattr__"] = missing
    if filename.endswith("/mapping.py"):
        names.update({name: _filling(missing, name) for name in _CALLED_FROM_C})


def _filling(missing: Callable[[str], Any], name: str) -> Callable[..., Any]:
    def call(*arguments: Any) -> Any:
        return missing(name)(*arguments)

    return call
